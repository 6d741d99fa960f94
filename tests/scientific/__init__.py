"""Programs with loops as scientists and engineers write them; ``tests/test_scientific.py`` runs them."""
