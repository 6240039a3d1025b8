"""Connections to the store that fail within a bounded time.

A store that is down must not hold a request of Glance: every wait has the
same limit, whichever database it is.
"""

from typing import Any

import sqlalchemy as sa

from imprint import exceptions


def build_engine(url: str, timeout: int) -> sa.Engine:
    """Build an engine whose connects, reads and writes take ``timeout`` s.

    :raises StoreError: not an address of a database, or one whose driver is
        not installed
    """
    try:
        parsed = sa.make_url(url)
        return sa.create_engine(
            parsed,
            connect_args=_build_arguments(parsed, timeout),
            pool_pre_ping=True,
            # MariaDB ends connections that are idle for hours
            pool_recycle=3600,
            **_build_pool(parsed, timeout),
        )
    except (sa.exc.ArgumentError, ImportError) as exc:
        # not the address: it may have a password
        raise exceptions.StoreError(
            f"[imprint_relations] connection cannot be used: "
            f"{type(exc).__name__}; an SQLAlchemy URL is allowed, with a "
            f"driver that is installed"
        ) from None


def _build_arguments(url: sa.URL, timeout: int) -> dict[str, Any]:
    backend = url.get_backend_name()
    if backend in {"mysql", "mariadb"}:
        return {
            "connect_timeout": timeout,
            "read_timeout": timeout,
            "write_timeout": timeout,
        }
    if backend == "postgresql":
        milliseconds = timeout * 1000
        return {
            "connect_timeout": timeout,
            "options": f"-c statement_timeout={milliseconds} "
            f"-c lock_timeout={milliseconds}",
            "tcp_user_timeout": milliseconds,
        }
    return {"timeout": timeout}


def _build_pool(url: sa.URL, timeout: int) -> dict[str, Any]:
    if url.get_backend_name() == "sqlite":
        return {}
    return {"pool_timeout": timeout, "pool_size": 5, "max_overflow": 20}
