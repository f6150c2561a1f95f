"""How batches become windows."""
