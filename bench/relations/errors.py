"""What keeps the benchmark from being run."""


class BenchmarkError(Exception):
    """The measurement cannot happen; the message says why."""
