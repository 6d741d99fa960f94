"""One capture while it runs: what is recorded, what is known of it, how it ends."""
