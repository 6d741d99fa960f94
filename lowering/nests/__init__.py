"""Loop nests as data, and what holds of every program of them."""
