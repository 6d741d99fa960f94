"""The disk cache: compilations of earlier processes, see docs/cache.md."""
