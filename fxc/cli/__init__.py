"""The commands of `python -m fxc`, a module each."""
