"""Runs the migrations for alembic, on the connection that it is given.

The database may be Glance's, which has an alembic table of its own: ours has
another name, and no table that is not ours is looked at.
"""

from alembic import context

from imprint.relations.tables import METADATA, VERSION_TABLE


def run() -> None:
    """Migrate, in one transaction where the database can."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
        include_name=is_ours,
    )
    with context.begin_transaction():
        context.run_migrations()


def is_ours(name: str | None, kind: str, _parents: object = None) -> bool:
    """Whether a table of the database is one of the store's."""
    return kind != "table" or name in METADATA.tables


run()
