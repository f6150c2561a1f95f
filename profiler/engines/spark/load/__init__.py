"""How a running job is loaded: its topics, the throttle before them, and how far every branch has come."""
