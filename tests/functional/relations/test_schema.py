"""The migrations, on every database that the store may be in."""

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from imprint import exceptions
from imprint.relations import schema
from imprint.relations.tables import METADATA, VERSION_TABLE


@pytest.fixture
def engine(database_url):
    engine = sa.create_engine(database_url)
    yield engine
    engine.dispose()


def compare(engine):
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_name": lambda name, kind, _: (
                    kind != "table" or name in METADATA.tables
                ),
            },
        )
        return compare_metadata(context, METADATA)


def list_tables(engine):
    return set(sa.inspect(engine).get_table_names())


def test_the_migrations_make_the_tables_that_are_queried(engine, database_url):
    assert schema.sync(database_url) == schema.latest() == "0001"
    assert compare(engine) == []
    assert list_tables(engine) == {*METADATA.tables, VERSION_TABLE}


def test_a_table_that_differs_is_found(engine, database_url):
    """Or the test above proves nothing."""
    schema.sync(database_url)
    with engine.begin() as connection:
        connection.execute(
            sa.text("DROP INDEX ix_imprint_image_instances_image_id")
            if engine.dialect.name != "mysql"
            else sa.text(
                "DROP INDEX ix_imprint_image_instances_image_id "
                "ON imprint_image_instances"
            )
        )
    assert [change[0] for change in compare(engine)] == ["add_index"]


def test_there_is_no_version_before_the_first_sync(engine, database_url):
    assert schema.version(database_url) is None
    assert list_tables(engine) == set()


def test_a_second_sync_changes_nothing(engine, database_url):
    schema.sync(database_url)
    assert schema.sync(database_url) == schema.version(database_url)
    assert compare(engine) == []


def test_the_tables_of_glance_and_its_version_stay_as_they_are(
    engine, database_url
):
    with engine.begin() as connection:
        connection.execute(
            sa.text("CREATE TABLE images (id VARCHAR(36) PRIMARY KEY)")
        )
        connection.execute(
            sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        )
        connection.execute(
            sa.text("INSERT INTO alembic_version VALUES ('glance')")
        )
    schema.sync(database_url)
    with engine.connect() as connection:
        assert connection.scalars(
            sa.text("SELECT version_num FROM alembic_version")
        ).all() == ["glance"]
    assert list_tables(engine) == {
        *("images", "alembic_version", VERSION_TABLE),
        *METADATA.tables,
    }


def test_the_charset_on_mariadb_is_that_of_glances_images(mariadb_url):
    """Another one costs the index of every join, and of none a test sees."""
    schema.sync(mariadb_url)
    engine = sa.create_engine(mariadb_url)
    with engine.connect() as connection:
        charsets = connection.scalars(
            sa.text(
                "SELECT DISTINCT character_set_name "
                "FROM information_schema.columns "
                "WHERE table_schema = DATABASE() "
                "AND table_name LIKE 'imprint_i%' "
                "AND character_set_name IS NOT NULL"
            )
        ).all()
    engine.dispose()
    assert charsets == ["utf8mb3"]


@pytest.mark.parametrize(
    "url",
    [
        "no address",
        "nosuchdatabase://localhost/imprint",
        "postgresql+pg8000://user:secret@localhost/imprint",
        "postgresql+asyncpg://user:secret@localhost/imprint",
    ],
)
def test_what_is_no_address_of_a_database_is_refused_without_its_password(
    url,
):
    with pytest.raises(exceptions.StoreError) as refused:
        schema.sync(url)
    assert "secret" not in str(refused.value)
    assert "postgresql+psycopg" in str(refused.value)


def test_a_database_that_cannot_be_opened_is_told_without_a_trace(tmp_path):
    with pytest.raises(exceptions.StoreError, match="refuses"):
        schema.version(f"sqlite:///{tmp_path / 'nowhere' / 'imprint.sqlite'}")


@pytest.mark.parametrize("driver", ["postgresql", "postgresql+psycopg2"])
def test_an_address_for_psycopg2_is_reached_by_psycopg(driver, postgresql_url):
    url = postgresql_url.replace("postgresql+psycopg", driver)
    assert url.startswith(f"{driver}:")
    assert schema.sync(url) == schema.latest()


def test_tables_of_a_later_imprint_are_told_and_left(engine, database_url):
    schema.sync(database_url)
    with engine.begin() as connection:
        connection.execute(
            sa.table(VERSION_TABLE, sa.column("version_num"))
            .update()
            .values(version_num="9999")
        )
    with pytest.raises(exceptions.StoreError, match="9999"):
        schema.sync(database_url)
    assert schema.version(database_url) == "9999"
