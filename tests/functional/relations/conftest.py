"""Each database that the store may be in."""

from tests.databases import (  # noqa: F401
    database_url,
    mariadb_server,
    mariadb_url,
    postgresql_server,
    postgresql_url,
)
