"""One captured call through all stages, to something that runs."""
