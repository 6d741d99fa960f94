"""Loop nests → fewer and shorter loop nests with the same effect."""
