"""The command line: parse, validate, build, run, report, exit code."""
