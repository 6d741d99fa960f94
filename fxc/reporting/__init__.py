"""Reports: traces read back, and made a page of HTML that needs no other file."""
