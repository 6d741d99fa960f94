"""What branches and loops of the graph are made with: regions, and what is run over."""
