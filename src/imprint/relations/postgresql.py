"""Waits for PostgreSQL that end on this side too.

libpq bounds the connect only, and ``statement_timeout`` is kept by the very
server that may hang.
"""

import time
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.abc import RV, PQGen

#: Seconds between two looks at the clock and for signals.
_INTERVAL = 0.1
#: For the server to be the first to give up: then the connection stays good.
_GRACE = 0.5


class Connection(psycopg.Connection[Any]):
    """A connection that is closed when an answer takes too long."""

    #: None: as long as it takes
    limit: float | None = None

    def wait(
        self,
        gen: PQGen[RV],
        interval: float = _INTERVAL,
        timeout: float | None = None,
    ) -> RV:
        """Wait for what the driver asked the server.

        :raises psycopg.OperationalError: it took longer than ``limit``
        """
        limit = self.limit if timeout is None else timeout
        started = time.monotonic()
        try:
            return super().wait(gen, interval=interval, timeout=limit)
        except psycopg.OperationalError:
            if limit is not None and time.monotonic() - started >= limit:
                # in the middle of an answer: of no use to anyone
                self.close()
            raise


def connect(
    _dialect: sa.Dialect,
    _record: object,
    arguments: list[Any],
    keywords: dict[str, Any],
) -> Connection:
    """Connect in place of SQLAlchemy, for its event ``do_connect``."""
    patience = keywords.pop("patience")
    connection = Connection.connect(*arguments, **keywords)
    connection.limit = patience + _GRACE
    return connection
