"""The errors of the cloud: one line each, fit to be shown as they are."""

from __future__ import annotations


class CloudError(Exception):
    """Something the user can read and act upon."""


class CommandError(CloudError):
    """A command failed; carries the last lines that it printed."""

    def __init__(self, what: str, code: int, tail: str = "") -> None:
        super().__init__(
            f"{what} failed with exit code {code}"
            + (f":\n{tail}" if tail else "")
        )
        self.code = code
