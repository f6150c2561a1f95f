"""Statistics of noisy, correlated windows: screening for the search, confirmation for the claims."""
