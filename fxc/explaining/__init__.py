"""What ``fxc.explain`` tells of a function: facts, and the page of them."""
