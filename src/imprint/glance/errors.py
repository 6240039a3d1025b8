"""What the middleware answers when it does not do what it is asked for.

The text is for the caller: the field, the value and what is allowed.
"""

import http

import webob

from imprint import exceptions
from imprint.glance import names


class RequestError(exceptions.ImprintError):
    """A request is refused; the subclass says with which status."""

    status = http.HTTPStatus.BAD_REQUEST


class ForbiddenError(RequestError):
    """The caller may not do this."""

    status = http.HTTPStatus.FORBIDDEN


class NotFoundError(RequestError):
    """There is no such thing, or it is not the caller's."""

    status = http.HTTPStatus.NOT_FOUND


class TooLargeError(RequestError):
    """The body is larger than any that is legal."""

    status = http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class UnavailableError(RequestError):
    """The store does not answer."""

    status = http.HTTPStatus.SERVICE_UNAVAILABLE


class InternalError(RequestError):
    """A fault of ours, said without its details."""

    status = http.HTTPStatus.INTERNAL_SERVER_ERROR


def render(error: RequestError) -> webob.Response:
    """Build the answer of an error."""
    response = webob.Response(
        status=int(error.status),
        json_body={
            "code": int(error.status),
            "title": error.status.phrase,
            "message": str(error),
        },
        content_type="application/json",
        charset="UTF-8",
    )
    response.headers.add(*names.SIGNAL)
    return response
