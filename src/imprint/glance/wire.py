"""Bodies and requests inside one request of Glance.

Knows WSGI and its traps, no rule of Imprint.
"""

import io
import json
from typing import Any

import webob
from glance.common import wsgi

from imprint.glance import errors

#: 128 properties of 64 KiB, twice
MAX_BODY = 16 * 1024**2


def read_json(request: wsgi.Request) -> Any:
    """Read the body, which stays readable; None: it is no JSON.

    What is no JSON is Glance's to refuse.

    :raises TooLargeError: more than any legal body
    """
    # Glance's own way to it: uWSGI has chunked bodies elsewhere
    body = request.body_file.read(MAX_BODY + 1) if _has_body(request) else b""
    if len(body) > MAX_BODY:
        raise errors.TooLargeError(
            f"the body is larger than {MAX_BODY} bytes, which no image needs"
        )
    set_body(request, body)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _has_body(request: wsgi.Request) -> bool:
    chunked = request.headers.get("Transfer-Encoding", "").lower() == "chunked"
    if chunked:
        # webob takes a body without a length for none
        request.is_body_readable = True
    return chunked or bool(request.content_length)


def set_body(request: wsgi.Request, body: bytes) -> None:
    """Replace the body by one that is all there."""
    environ = request.environ
    for name in (
        # else Glance reads the chunks again
        "HTTP_TRANSFER_ENCODING",
        "wsgi.input_terminated",
        "webob.is_body_readable",
        "webob.is_body_seekable",
    ):
        environ.pop(name, None)
    environ["wsgi.input"] = io.BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))


def ask(
    request: wsgi.Request, app: Any, path: str, query: str = ""
) -> webob.Response:
    """GET something of Glance as the caller; the answer is all there."""
    environ = {
        name: value
        for name, value in request.environ.items()
        # what routes and webob found out for this request; not the context
        if name == "webob.adhoc_attrs"
        or not name.startswith(("webob.", "wsgiorg.", "routes."))
    }
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ.pop("HTTP_IF_NONE_MATCH", None)
    environ |= {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_LENGTH": "0",
        "wsgi.input": io.BytesIO(),
    }
    # Glance keeps the request's context there
    attributes = environ.get("webob.adhoc_attrs")
    if attributes is not None:
        environ["webob.adhoc_attrs"] = {"context": attributes["context"]}
    return call(wsgi.Request(environ), app)


def call(request: wsgi.Request, app: Any) -> webob.Response:
    """Let Glance answer; the answer is small JSON and all there."""
    response = request.get_response(app)
    # closes what Glance iterates over
    _ = response.body
    return response
