"""The stepwise method: features, platform capability, operator capacity, and what goes beyond the paper."""
