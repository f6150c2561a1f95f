"""What a stored profile holds for."""
