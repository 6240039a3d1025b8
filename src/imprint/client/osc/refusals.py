"""Say on one line why a cloud did not do what a command asked for."""

import contextlib
from collections.abc import Iterator

from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions

from imprint.client import sdk


@contextlib.contextmanager
def told(consequence: str) -> Iterator[None]:
    """Turn a refusal into the line that the user is told.

    A cloud without Imprint is named with the ``consequence``; a refusal of
    the server is its own words and its status. Faults of a server keep the
    SDK's report.

    :raises osc_lib.exceptions.CommandError: for either
    """
    try:
        yield
    except sdk.OverridesNotOffered as exc:
        raise exceptions.CommandError(f"{exc}: {consequence}") from exc
    except sdk_exceptions.HttpException as exc:
        if exc.source != "Client":
            raise
        words = " ".join(str(exc.details).splitlines())
        raise exceptions.CommandError(
            f"{words} (HTTP {exc.status_code})"
        ) from exc
