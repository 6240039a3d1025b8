"""A database server of the benchmark's own, whichever it is.

It listens on a socket in a directory of this run only.
"""

import abc
import contextlib
import os
import pathlib
import shutil
import threading
from collections.abc import Iterable, Iterator

import sqlalchemy as sa
from bench.relations.errors import BenchmarkError

GLANCE = "glance"
INDEX = "imprint_bench_name_value"
CHUNK = 1 << 20  # characters


class Database(abc.ABC):
    """A database server over one data directory."""

    name: str
    #: where its program may be besides the search path
    programs: str
    #: what an image takes on the disk, and what a server without any takes
    bytes_per_image: int
    bytes_empty: int

    def __init__(self, data: pathlib.Path, run: pathlib.Path) -> None:
        self.data = data
        self.run = run
        self.log = run / f"{self.name}.log"
        self.engine = self._connect(GLANCE)

    @abc.abstractmethod
    def url(self, database: str = GLANCE) -> str:
        """Return how SQLAlchemy connects."""

    @abc.abstractmethod
    def initialize(self) -> None:
        """Make the data directory of an empty server."""

    @abc.abstractmethod
    def running(self) -> contextlib.AbstractContextManager[object]:
        """Run the server until the block is left."""

    @abc.abstractmethod
    def create_glance(self) -> None:
        """Create the database for Glance's tables."""

    @abc.abstractmethod
    def load(self, rows: dict[str, Iterable[str]]) -> None:
        """Fill empty tables, given by name, and gather statistics."""

    @abc.abstractmethod
    def create_index(self) -> None:
        """Create the index on name and value that Glance does not have."""

    @abc.abstractmethod
    def drop_index(self) -> None:
        """Drop that index, if it is there."""

    def version(self) -> str:
        """Return the version of the server that runs."""
        with self.engine.connect() as connection:
            return str(connection.scalar(sa.func.version()))

    def execute(self, *statements: str, database: str = GLANCE) -> None:
        """Run statements over one connection, each for itself."""
        engine = self._connect(database)
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def answers(self, database: str) -> bool:
        """Whether the server takes connections to a database."""
        try:
            self.execute("SELECT 1", database=database)
        except sa.exc.OperationalError:
            return False
        return True

    def program(self, name: str) -> str:
        """Return where a program of this server is."""
        path = f"{os.environ.get('PATH', '')}:{self.programs}"
        found = shutil.which(name, path=path)
        if found is None:
            raise BenchmarkError(
                f"{name} is not on this machine: install the server of "
                f"{self.name}, or leave it out with --databases"
            )
        return found

    def _connect(self, database: str) -> sa.Engine:
        return sa.create_engine(
            self.url(database),
            poolclass=sa.NullPool,
            isolation_level="AUTOCOMMIT",
        )


@contextlib.contextmanager
def pipe(rows: Iterable[str], directory: pathlib.Path) -> Iterator[str]:
    """Give rows to a server as a file that is never on the disk."""
    path = directory / "rows"
    os.mkfifo(path, 0o600)
    # a daemon: a server that refuses the statement never opens the pipe
    writer = threading.Thread(target=_write, args=(rows, path), daemon=True)
    writer.start()
    try:
        yield str(path)
        writer.join()
    finally:
        path.unlink()


def _write(rows: Iterable[str], path: pathlib.Path) -> None:
    with (
        contextlib.suppress(BrokenPipeError),  # the server says why
        path.open("w", encoding="ascii", buffering=CHUNK) as file,
    ):
        file.writelines(rows)
