"""`profile history`: what was measured, listed, shown, taken out, brought in and deleted."""
