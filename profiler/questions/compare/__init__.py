"""`profile compare` tells which variant of a job is the fastest, each at its own best.

Each variant is profiled to its own best configuration, unless a stored profile still fits (`best_of_each`); then all
take turns, block by block (`experiment`). Every pair is tested, with Holm's adjustment, and variants that cannot be
told apart share a rank (`ranking`). What was interrupted goes on when the same is asked again (`resume`).
"""
