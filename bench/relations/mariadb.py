"""MariaDB with the memory of a small controller."""

import contextlib
import os
import subprocess
from collections.abc import Iterable, Iterator

from bench.relations import processes
from bench.relations.database import GLANCE, INDEX, Database, pipe
from bench.relations.population import COLUMNS


class MariaDB(Database):
    """One MariaDB server."""

    name = "mariadb"
    programs = "/usr/sbin:/usr/local/sbin"
    bytes_per_image = 5_500
    bytes_empty = 1_500_000_000

    def url(self, database: str = GLANCE) -> str:
        """Return how SQLAlchemy connects."""
        socket = self.run / "mariadb.sock"
        return f"mysql+pymysql://root@/{database}?unix_socket={socket}"

    def initialize(self) -> None:
        """Make the data directory of an empty server."""
        processes.run(
            [
                self.program("mariadb-install-db"),
                "--no-defaults",
                f"--datadir={self.data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                *_user(),
            ],
            log=self.log,
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the server until the block is left."""
        command = [
            self.program("mariadbd"),
            "--no-defaults",
            f"--datadir={self.data}",
            f"--tmpdir={self.data}",
            f"--socket={self.run / 'mariadb.sock'}",
            f"--pid-file={self.run / 'mariadb.pid'}",
            "--skip-networking",
            "--character-set-server=utf8mb3",
            "--innodb-buffer-pool-size=2G",
            "--innodb-log-file-size=1G",
            # what is lost in a crash is loaded again
            "--innodb-flush-log-at-trx-commit=2",
            *_user(),
        ]
        with processes.running(
            command, log=self.log, answers=lambda: self.answers("mysql")
        ) as process:
            yield process

    def create_glance(self) -> None:
        """Create the database for Glance's tables."""
        self.execute(f"CREATE DATABASE {GLANCE}", database="mysql")

    def load(self, rows: dict[str, Iterable[str]]) -> None:
        """Fill empty tables, given by name, and gather statistics.

        Without its checks InnoDB sorts all keys of an empty table first and
        writes them in bulk: three times as fast, with no index to drop.
        """
        for table, text in rows.items():
            columns = ", ".join(COLUMNS[table])
            with pipe(text, self.run) as path:
                self.execute(
                    "SET unique_checks = 0, foreign_key_checks = 0",
                    f"LOAD DATA INFILE '{path}' INTO TABLE {table} "
                    f"CHARACTER SET utf8mb3 ({columns})",
                )
            self.execute(f"ANALYZE TABLE {table}")

    def create_index(self) -> None:
        """Create the index on name and value that Glance does not have."""
        self.execute(
            # a part of the value, as it is a TEXT: a UUID is whole in it
            f"CREATE INDEX {INDEX} ON image_properties (name, value(64))",
            "ANALYZE TABLE image_properties",
        )

    def drop_index(self) -> None:
        """Drop that index, if it is there."""
        self.execute(f"DROP INDEX IF EXISTS {INDEX} ON image_properties")


def _user() -> list[str]:
    # MariaDB runs as root only when it is told to
    return ["--user=root"] if os.geteuid() == 0 else []
