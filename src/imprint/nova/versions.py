"""Keeps a method of a controller from callers of an older Imprint version."""

import functools
from collections.abc import Callable
from typing import Any

from nova import exception

from imprint.nova import version_filter

_Method = Callable[..., Any]


def since(minimum: str) -> Callable[[_Method], _Method]:
    """Serve a method to requests that negotiated ``minimum`` or later.

    To all others there is no such route: the same 404 as Nova's for a method
    above the microversion of the request.  Goes outermost, so that nothing
    of the body is looked at first.
    """

    def decorate(method: _Method) -> _Method:
        @functools.wraps(method)
        def served(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
            if not version_filter.is_negotiated(req.environ, minimum):
                raise exception.VersionNotFoundForAPIMethod(
                    version=f"{version_filter.SERVICE_TYPE} below {minimum}"
                )
            return method(self, req, *args, **kwargs)

        return served

    return decorate
