"""Imprint's errors as Nova's, so that its API answers them in its own way."""

import contextlib
from collections.abc import Iterator

from nova import exception

from imprint import exceptions


class InvalidImagePropertyOverride(exception.ValidationError):
    """400.  Only a ValidationError passes ``wsgi.expected_errors``."""

    msg_fmt = "%(reason)s"


class ForbiddenImagePropertyOverride(exception.Forbidden):
    """403."""

    msg_fmt = "%(reason)s"


ERRORS: dict[type[exceptions.ImprintError], type[exception.NovaException]] = {
    exceptions.InvalidOverrideError: InvalidImagePropertyOverride,
    exceptions.ForbiddenOverrideError: ForbiddenImagePropertyOverride,
}


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise Imprint's errors as those that Nova's API answers."""
    try:
        yield
    except exceptions.ImprintError as exc:
        raise ERRORS[type(exc)](reason=str(exc)) from exc
