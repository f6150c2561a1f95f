"""A drill: which operator works longer on purpose (`preparation`), and what it works (`burden`)."""
