"""Tests of packages as they are installed, run with all functions of the packages compiled."""
