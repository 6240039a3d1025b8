"""What ends a command with one line and the exit status 1."""

from imprint import exceptions


class CommandError(exceptions.ImprintError):
    """What was asked for cannot be done; the text says what can."""
