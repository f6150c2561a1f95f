"""`profile check` tells what should be known of a topology before anything is measured."""
