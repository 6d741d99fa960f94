"""Programs with loops as scientists and engineers write them; ``tests/programs/test_scientific.py`` runs them."""
