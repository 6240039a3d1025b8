"""Connections to the store that fail within a bounded time.

A store that is down must not hold a request of Glance: every wait has the
same limit, whichever database it is.  Only drivers whose waits can be bounded
are allowed.  An address for psycopg2, whose waits only the server bounds, is
one for psycopg: both take the same.
"""

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from imprint import exceptions


def build_engine(
    url: str, timeout: int, *, patience: int | None = None
) -> sa.Engine:
    """Build an engine whose connects, reads and writes take ``timeout`` s.

    ``patience`` is for reads and writes where it is another: those of a
    migration may take hours.

    :raises StoreError: not an address of a database, or one whose driver is
        not installed or not known here
    """
    try:
        parsed = _choose_driver(sa.make_url(url))
        engine = sa.create_engine(
            parsed,
            connect_args=_build_arguments(
                parsed, timeout, timeout if patience is None else patience
            ),
            pool_pre_ping=True,
            # MariaDB ends connections that are idle for hours
            pool_recycle=3600,
            **_build_pool(parsed, timeout),
        )
        if engine.driver == "psycopg":
            # here: another database needs no such driver
            from imprint.relations import postgresql  # noqa: PLC0415

            sa.event.listen(engine, "do_connect", postgresql.connect)
    except (sa.exc.ArgumentError, ImportError) as exc:
        # not the address: it may have a password
        raise exceptions.StoreError(
            f"[imprint_relations] connection, or [database] connection in "
            f"its place, cannot be used: {type(exc).__name__}; an SQLAlchemy "
            f"URL is allowed whose driver is installed and one of "
            f"{', '.join(_ARGUMENTS)}"
        ) from None
    return engine


def _choose_driver(url: sa.URL) -> sa.URL:
    if url.drivername in {"postgresql", "postgresql+psycopg2"}:
        return url.set(drivername="postgresql+psycopg")
    return url


def _build_mysql(connect: int, patience: int) -> dict[str, Any]:
    return {
        "connect_timeout": connect,
        "read_timeout": patience,
        "write_timeout": patience,
    }


def _build_postgresql(connect: int, patience: int) -> dict[str, Any]:
    milliseconds = patience * 1000
    return {
        "connect_timeout": connect,
        # taken out again by our own connect
        "patience": patience,
        # the server gives up too, and what it had locked
        "options": f"-c statement_timeout={milliseconds} "
        f"-c lock_timeout={milliseconds}",
    }


def _build_sqlite(_connect: int, patience: int) -> dict[str, Any]:
    return {"timeout": patience}


#: What bounds a driver's waits, by what its addresses begin with.
_ARGUMENTS: Mapping[str, Callable[[int, int], dict[str, Any]]] = {
    "mysql+pymysql": _build_mysql,
    "mariadb+pymysql": _build_mysql,
    "mysql+mysqldb": _build_mysql,
    "mariadb+mysqldb": _build_mysql,
    "postgresql+psycopg": _build_postgresql,
    "sqlite": _build_sqlite,
    "sqlite+pysqlite": _build_sqlite,
}


def _build_arguments(
    url: sa.URL, connect: int, patience: int
) -> dict[str, Any]:
    name = url.drivername
    if "+" not in name and name != "sqlite":
        name = f"{name}+{url.get_driver_name()}"
    build = _ARGUMENTS.get(name)
    if build is None:
        raise sa.exc.ArgumentError
    return build(connect, patience)


def _build_pool(url: sa.URL, timeout: int) -> dict[str, Any]:
    if url.get_backend_name() == "sqlite":
        return {}
    return {"pool_timeout": timeout, "pool_size": 5, "max_overflow": 20}
