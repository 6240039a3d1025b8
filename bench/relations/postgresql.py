"""PostgreSQL with the memory of a small controller."""

import contextlib
import os
import pathlib
import pwd
import signal
import subprocess
from collections.abc import Iterable, Iterator

import sqlalchemy as sa
from bench.relations import processes
from bench.relations.database import GLANCE, INDEX, Database, pipe
from bench.relations.population import COLUMNS

DEBIAN = pathlib.Path("/usr/lib/postgresql")

#: Of the tables, those that are no constraints.
INDEXES = sa.text(
    "SELECT indexname, indexdef FROM pg_indexes "
    "WHERE schemaname = 'public' AND tablename = ANY(:tables) "
    "AND indexname NOT IN (SELECT conname FROM pg_constraint)"
)


class PostgreSQL(Database):
    """One PostgreSQL server."""

    name = "postgresql"
    programs = ":".join(
        str(path) for path in sorted(DEBIAN.glob("*/bin"), reverse=True)
    )
    bytes_per_image = 6_500
    bytes_empty = 1_000_000_000

    def url(self, database: str = GLANCE) -> str:
        """Return how SQLAlchemy connects."""
        return f"postgresql+psycopg://postgres@/{database}?host={self.run}"

    def initialize(self) -> None:
        """Make the data directory of an empty server."""
        processes.run(
            [
                *_not_as_root(),
                self.program("initdb"),
                f"--pgdata={self.data}",
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ],
            log=self.log,
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the server until the block is left."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.run,
            "shared_buffers": "1GB",
            "maintenance_work_mem": "512MB",
            # what is lost in a crash is loaded again
            "fsync": "off",
            "wal_level": "minimal",
            "max_wal_senders": 0,
            "max_wal_size": "4GB",
            # loading leaves nothing to do that would be in the way later
            "autovacuum": "off",
        }
        command = [
            *_not_as_root(),
            self.program("postgres"),
            "-D",
            self.data,
            *(f"--{name}={value}" for name, value in settings.items()),
        ]
        with processes.running(
            command,
            log=self.log,
            answers=lambda: self.answers("postgres"),
            # the fast way: connections are ended, not waited for
            stop=signal.SIGINT,
        ) as process:
            yield process

    def create_glance(self) -> None:
        """Create the database for Glance's tables."""
        self.execute(f"CREATE DATABASE {GLANCE}", database="postgres")

    def load(self, rows: dict[str, Iterable[str]]) -> None:
        """Fill empty tables, given by name, and gather statistics.

        Rows of a table that was truncated in the same transaction need no
        log; indexes are made of sorted keys, later.
        """
        with self.engine.connect() as connection:
            found = connection.execute(INDEXES, {"tables": list(rows)}).all()
        self.execute(*(f"DROP INDEX {name}" for name, _ in found))
        self._copy(rows)
        self.execute(*(made for _, made in found), "VACUUM ANALYZE")

    def _copy(self, rows: dict[str, Iterable[str]]) -> None:
        with self.engine.connect() as connection:
            execute = connection.exec_driver_sql
            execute("BEGIN")
            # which checks no foreign keys
            execute("SET LOCAL session_replication_role = replica")
            execute(f"TRUNCATE {', '.join(rows)} CASCADE")
            for table, text in rows.items():
                columns = ", ".join(COLUMNS[table])
                with pipe(text, self.run) as path:
                    execute(
                        f"COPY {table} ({columns}) FROM '{path}' WITH (FREEZE)"
                    )
            execute("COMMIT")

    def create_index(self) -> None:
        """Create the index on name and value that Glance does not have."""
        self.execute(
            f"CREATE INDEX {INDEX} ON image_properties (name, value)",
            "ANALYZE image_properties",
        )

    def drop_index(self) -> None:
        """Drop that index, if it is there."""
        self.execute(f"DROP INDEX IF EXISTS {INDEX}")


def _not_as_root() -> list[str]:
    """Start a command that gives root another name.

    PostgreSQL refuses to run as root.  It sees another user, and its files
    stay those of the user who measures, wherever they are.
    """
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    return [
        *("unshare", "--user"),
        f"--map-user={nobody.pw_uid}",
        f"--map-group={nobody.pw_gid}",
    ]
