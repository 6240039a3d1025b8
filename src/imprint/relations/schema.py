"""Makes the tables of the store and says which version they have.

Knows no configuration: its caller knows the address of the database.
"""

import contextlib
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import command, util
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from imprint import exceptions
from imprint.relations.engine import build_engine
from imprint.relations.tables import VERSION_TABLE

MIGRATIONS = "imprint.relations:migrations"
#: Seconds that a connect may take, and one statement of a migration.
_CONNECT, _STATEMENT = 30, 24 * 3600


def sync(url: str) -> str | None:
    """Run the migrations that the database has not seen; its version then.

    :raises StoreError: the database does not do it
    """
    with _connect(url) as connection:
        config = _build_config()
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except util.CommandError as exc:
            raise exceptions.StoreError(
                f"the tables of image relations have version "
                f"{_find_version(connection)}, this Imprint knows up to "
                f"{latest()}"
            ) from exc
        return _find_version(connection)


def version(url: str) -> str | None:
    """Return the version of the tables; None: there are none.

    :raises StoreError: the database does not say
    """
    with _connect(url) as connection:
        return _find_version(connection)


def latest() -> str | None:
    """Return the version that this Imprint needs."""
    return ScriptDirectory.from_config(_build_config()).get_current_head()


@contextlib.contextmanager
def _connect(url: str) -> Iterator[sa.Connection]:
    engine = build_engine(url, _CONNECT, patience=_STATEMENT)
    try:
        with engine.begin() as connection:
            yield connection
    except sa.exc.SQLAlchemyError as exc:
        # not its text, which has the statement
        origin = getattr(exc, "orig", None) or exc
        raise exceptions.StoreError(
            f"the database of image relations refuses: {type(origin).__name__}"
        ) from exc
    finally:
        engine.dispose()


def _build_config() -> Config:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.set_main_option("path_separator", "os")
    return config


def _find_version(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(
        connection, opts={"version_table": VERSION_TABLE}
    ).get_current_revision()
