"""Running scripts of the user's, as Python runs them."""
