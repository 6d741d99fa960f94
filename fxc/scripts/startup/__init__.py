"""What Python imports at its start in the process of a script that `fxc run` runs."""
