"""Settings: what they are, and where their values come from."""
