"""Functional graph → loop nests."""
