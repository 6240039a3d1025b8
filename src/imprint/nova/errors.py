"""Imprint's errors as Nova's, so that its API answers them in its own way."""

import contextlib
from collections.abc import Callable, Iterator

import webob.exc
from nova import exception
from nova.api.openstack.compute import servers

from imprint import exceptions


class InvalidImagePropertyOverride(exception.ValidationError):
    """400.  Only a ValidationError passes ``wsgi.expected_errors``."""

    msg_fmt = "%(reason)s"


class ForbiddenImagePropertyOverride(exception.Forbidden):
    """403."""

    msg_fmt = "%(reason)s"


ERRORS: dict[type[exceptions.ImprintError], Callable[[str], Exception]] = {
    exceptions.InvalidOverrideError: lambda text: InvalidImagePropertyOverride(
        reason=text
    ),
    exceptions.ForbiddenOverrideError: (
        lambda text: ForbiddenImagePropertyOverride(reason=text)
    ),
    # no exception of Nova's own passes wsgi.expected_errors as 409
    exceptions.ConflictingOverrideError: (
        lambda text: webob.exc.HTTPConflict(explanation=text)
    ),
}


#: what is wrong with overrides of a request, whatever it is about
OVERRIDE_ERRORS = (
    InvalidImagePropertyOverride,
    ForbiddenImagePropertyOverride,
)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise Imprint's errors as those that Nova's API answers."""
    try:
        yield
    except exceptions.ImprintError as exc:
        raise ERRORS[type(exc)](str(exc)) from exc


@contextlib.contextmanager
def refused_as_create() -> Iterator[None]:
    """Answer what Nova's checks of flavor and image raise, as POST /servers.

    There the statuses stand beside the call, so they stand here again.
    """
    try:
        yield
    except exception.BootFromVolumeRequiredForZeroDiskFlavor as exc:
        raise webob.exc.HTTPForbidden(
            explanation=exc.format_message()
        ) from exc
    except exception.MixedInstanceNotSupportByComputeService as exc:
        raise webob.exc.HTTPConflict(explanation=exc.format_message()) from exc
    except (
        exception.AutoDiskConfigDisabledByImage,
        exception.ImageUnacceptable,
        *servers.INVALID_FLAVOR_IMAGE_EXCEPTIONS,
    ) as exc:
        raise webob.exc.HTTPBadRequest(
            explanation=exc.format_message()
        ) from exc
