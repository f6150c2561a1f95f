"""How Spark runs a job: its chains, stages and topics."""
