"""Reports: the result as terminal table and JSON document."""
