"""Serves one service's WSGI application: one process, native threads.

Run as `python -m imprint.cloud.wsgi MODULE PORT`.  cheroot needs no compiler
and is as fast as others for these applications.  What the applications
expect of their server and what they do to it is told here, once.
"""

from __future__ import annotations

import importlib
import logging
import signal
import sys
from typing import TYPE_CHECKING, Any

from imprint.cloud.settings import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Application = Callable[
        [dict[str, Any], Callable[..., Any]], Iterable[bytes]
    ]

THREADS = 6


class UnclosableInput:
    """A request's body that the application cannot close.

    Glance closes it after an upload; cheroot's is the connection's own
    reader, and the next request on that connection would fail.
    """

    def __init__(self, body: Any) -> None:
        self._body = body

    def close(self) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)


def shield_input(application: Application) -> Application:
    """Wrap an application so that it cannot close its input."""

    def shielded(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        environ["wsgi.input"] = UnclosableInput(environ["wsgi.input"])
        return application(environ, start_response)

    return shielded


def load(module: str) -> Application:
    """Load the `application` of a module."""
    # Nova and Neutron read the command line for themselves.
    sys.argv = [module]
    host = module.partition(".")[0]
    if host == "neutron":
        backend = importlib.import_module("oslo_service.backend")
        backend.init_backend(backend.BackendType.THREADING)
    application: Application = importlib.import_module(module).application
    if host == "keystone":
        # oslo.policy loads its rules at the first request, and not in a way
        # that two first requests at once would survive.
        rbac = importlib.import_module("keystone.common.rbac_enforcer")
        rbac.enforcer.RBACEnforcer()._enforcer.load_rules()  # noqa: SLF001
    return application


def serve(application: Application, port: int) -> None:
    """Serve on the loopback until SIGTERM."""
    wsgi = importlib.import_module("cheroot.wsgi")
    server = wsgi.Server(
        (LOOPBACK, port),
        shield_input(application),
        numthreads=THREADS,
        max=2 * THREADS,
        request_queue_size=128,
        timeout=65,
        shutdown_timeout=2,
    )
    server.error_log = lambda text, level=logging.INFO, traceback=False: (
        logging.getLogger(__name__).log(level, text, exc_info=traceback)
    )

    def stop(_signal: int, _frame: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    try:
        server.start()
    finally:
        server.stop()


def main() -> None:
    """Serve what the command line names."""
    module, port = sys.argv[1:]
    serve(load(module), int(port))


if __name__ == "__main__":
    main()
