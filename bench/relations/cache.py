"""Loaded data directories that a later run uses again.

Loading a million images takes minutes, and they are the same every time.  A
directory's name has a digest of all that decides what is in it.
"""

import contextlib
import fcntl
import hashlib
import inspect
import os
import pathlib
import shutil
import sys
import time
from collections.abc import Iterator
from importlib import metadata

from bench.relations import glance, mariadb, population, postgresql
from bench.relations.database import Database
from bench.relations.errors import BenchmarkError
from bench.relations.population import Population

from imprint.relations import schema, tables

LOADED = "loaded"  # a file: an interrupted load is not used again
DATABASES = {
    each.name: each for each in (mariadb.MariaDB, postgresql.PostgreSQL)
}


def find_directory() -> pathlib.Path:
    """Return where loaded data is kept unless another place is asked for."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "imprint" / "bench"


@contextlib.contextmanager
def locked(directory: pathlib.Path) -> Iterator[None]:
    """Keep other runs out: two servers cannot share data."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BenchmarkError(f"another run uses {directory}") from None
        yield


class Cache:
    """What is loaded, below one directory."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory

    def check_space(self, wanted: list[tuple[str, int]]) -> None:
        """Say what loading takes; raises BenchmarkError: it does not fit."""
        need = 0
        for name, count in wanted:
            if not (self._place(name, count) / LOADED).exists():
                kind = DATABASES[name]
                need += kind.bytes_empty + count * kind.bytes_per_image
        # the made index, sorting and the pages that requests write
        need += max(count for _, count in wanted) * 3_000
        free = shutil.disk_usage(self._directory).free
        _say(
            f"{self._directory}: {need / 1e9:.1f} GB needed, "
            f"{free / 1e9:.1f} GB free"
        )
        if need > free:
            raise BenchmarkError(
                f"{self._directory} has too little space: choose another "
                f"with --cache, or fewer images with --images"
            )

    def ensure(self, name: str, count: int, run: pathlib.Path) -> Database:
        """Return a database with ``count`` images, loaded if need be."""
        place = self._place(name, count)
        database = DATABASES[name](place / "data", run)
        if not (place / LOADED).exists():
            for old in self._directory.glob(f"{name}-{count}-*"):
                shutil.rmtree(old)
            (place / "data").mkdir(parents=True, mode=0o700)
            _load(database, Population(count), run)
            (place / LOADED).touch()
        return database

    def _place(self, name: str, count: int) -> pathlib.Path:
        return self._directory / f"{name}-{count}-{_digest(name)}"


def _digest(name: str) -> str:
    content = [
        inspect.getsource(module)
        for module in (
            population,
            tables,
            sys.modules[DATABASES[name].__module__],
        )
    ]
    content.append(metadata.version("glance"))
    return hashlib.sha256("".join(content).encode()).hexdigest()[:12]


def _load(database: Database, images: Population, run: pathlib.Path) -> None:
    start = time.monotonic()
    _say(f"{database.name}, {images.count} images: loading")
    database.initialize()
    with database.running():
        database.create_glance()
        glance.create_tables(database, run)
        schema.sync(database.url())
        database.load({t: images.rows(t) for t in population.COLUMNS})
        size = sum(f.stat().st_size for f in database.data.rglob("*"))
    _say(
        f"{database.name}, {images.count} images: {size / 1e9:.1f} GB in "
        f"{time.monotonic() - start:.0f} s"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
