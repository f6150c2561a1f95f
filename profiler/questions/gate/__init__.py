"""`profile gate` tells whether this version of a job is slower than another."""
