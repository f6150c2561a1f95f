"""Benches: each module measures one thing and yields rows; `scripts/bench NAME` prints them."""
