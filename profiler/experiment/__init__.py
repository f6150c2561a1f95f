"""What is measured and how: the engine as it is seen from here, windows, rounds, blocks, and the clock."""
