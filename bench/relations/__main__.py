"""Measure the list of a server's images beside Glance's own filters.

On MariaDB and PostgreSQL, each with 10,000, 100,000 and a million images of
fifteen properties, the same page of the same server's nine images is asked
for in four ways:

instance_uuid  the filter by a property that Glance has
with an index  the same, with an index on (name, value) made by hand
id=in:         the nine ids, for who knows them: the least that Glance takes
Imprint        nova_instance_uuid, through Imprint's paste filter

by an administrator, by a tenant that owns a tenth of all images, and by one
that owns three hundred.  Then come requests that are none of Imprint's, and
uploads and downloads.  Glance is the real application, one process without
Imprint (two, where small differences count: the ratio of both is the noise of
the measurement) and one with it.

Figures are no tests: it ends with 0 whatever they are.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence

from bench.relations import lists, others
from bench.relations.cache import DATABASES, Cache, find_directory, locked
from bench.relations.client import Client
from bench.relations.database import Database
from bench.relations.errors import BenchmarkError
from bench.relations.glance import serving
from bench.relations.lists import Lists, build_callers
from bench.relations.population import Population
from bench.relations.report import MILLION, Report

SIZES = (10_000, 100_000, MILLION)
FEWEST = 1_000


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.relations",
        description="Compare the lists of a server's images with Glance's.",
    )
    parser.add_argument(
        "--images",
        type=_parse_sizes,
        default=SIZES,
        help="how many, separated by commas; the goals are about a million",
    )
    parser.add_argument(
        "--databases",
        type=_parse_databases,
        default=tuple(DATABASES),
        help=f"of {','.join(DATABASES)}",
    )
    parser.add_argument("--samples", type=int, default=40, help="of each list")
    parser.add_argument(
        "--requests", type=int, default=400, help="samples of other requests"
    )
    parser.add_argument(
        "--transfers", type=int, default=8, help="uploads and downloads"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=30,
        help="seconds for one way of asking; three samples are taken anyway",
    )
    parser.add_argument(
        "--cache",
        type=pathlib.Path,
        default=find_directory(),
        help="where loaded databases are kept",
    )
    parser.add_argument(
        "--json", type=pathlib.Path, help="write all samples here"
    )
    return parser.parse_args(arguments)


def _parse_sizes(text: str) -> tuple[int, ...]:
    sizes = sorted({int(size) for size in text.split(",")})
    # every tenant needs a few servers
    if any(size < FEWEST or size % FEWEST for size in sizes):
        raise argparse.ArgumentTypeError("only whole thousands are allowed")
    return tuple(sizes)


def _parse_databases(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(DATABASES):
        raise argparse.ArgumentTypeError(f"allowed: {','.join(DATABASES)}")
    return names


class Stand:
    """One database with its Glances, and who asks them."""

    def __init__(
        self, name: str, count: int, stock: Client, imprint: Client
    ) -> None:
        self.place = (name, count)
        self.images = Population(count)
        self.lists = {
            caller.name: Lists(caller, stock, imprint)
            for caller in build_callers(self.images)
        }


class Benchmark:
    """A run with its options, and what it has said so far."""

    def __init__(self, options: argparse.Namespace, run: pathlib.Path) -> None:
        self._options = options
        self._run = run
        self._cache = Cache(options.cache)
        self.report = Report()

    def measure(self) -> None:
        """Measure all databases, one after the other."""
        options = self._options
        self._cache.check_space(
            [(n, c) for n in options.databases for c in options.images]
        )
        for name in options.databases:
            # the smallest stays until the end: it is what growth is from
            with contextlib.ExitStack() as stack:
                smallest = None
                for count in options.images:
                    if smallest is None:
                        smallest = self._measure_size(name, count, None, stack)
                        continue
                    with contextlib.ExitStack() as own:
                        self._measure_size(name, count, smallest, own)

    def _measure_size(
        self,
        name: str,
        count: int,
        smallest: Stand | None,
        stack: contextlib.ExitStack,
    ) -> Stand:
        run = self._run / f"{name}-{count}"
        run.mkdir()
        database = self._cache.ensure(name, count, run)
        stack.enter_context(database.running())
        self.report.versions[name] = database.version()
        self.report.load.append(os.getloadavg()[0])
        database.drop_index()  # of a run that was ended
        glances = {
            arm: stack.enter_context(
                serving(
                    arm.replace(" ", "-").lower(),
                    database,
                    run,
                    imprint=arm == others.IMPRINT,
                )
            )
            for arm in (others.STOCK, others.AGAIN, others.IMPRINT)
        }
        stand = Stand(
            name,
            count,
            Client(glances[others.STOCK].port),
            Client(glances[others.IMPRINT].port),
        )
        if smallest is None:
            self._measure_others(stand, glances)
        self._measure_lists(stand, smallest)
        with _index(database):
            self._measure_index(stand)
        return stand

    def _measure_lists(self, stand: Stand, smallest: Stand | None) -> None:
        for caller, own in stand.lists.items():
            self._say(stand, caller)
            samples = lists.compare_filters(
                own,
                smallest and smallest.lists[caller],
                rounds=self._options.samples,
                budget=self._options.budget,
            )
            self.report.add_lists(stand.place, caller, samples)

    def _measure_index(self, stand: Stand) -> None:
        for caller, own in stand.lists.items():
            self._say(stand, f"{caller}, with an index made by hand")
            samples = lists.compare_index(
                own, rounds=self._options.samples, budget=self._options.budget
            )
            self.report.add_index(stand.place, caller, samples)

    def _measure_others(self, stand: Stand, glances: others.Glances) -> None:
        self._say(stand, "requests that are none of Imprint's")
        kinds = others.measure_requests(
            glances,
            stand.images,
            rounds=self._options.requests,
            budget=self._options.budget,
        )
        self.report.add_requests(stand.place, kinds)
        self._say(stand, "uploads and downloads")
        transfers = others.Transfers(glances)
        uploads = transfers.measure(self._options.transfers)
        self.report.add_transfers(stand.place, uploads, transfers)

    @staticmethod
    def _say(stand: Stand, what: str) -> None:
        name, count = stand.place
        load = os.getloadavg()[0]
        print(
            f"{name}, {count} images: {what} (load {load:.1f})",
            file=sys.stderr,
            flush=True,
        )


@contextlib.contextmanager
def _index(database: Database) -> Iterator[None]:
    print("making the index", file=sys.stderr, flush=True)
    database.create_index()
    try:
        yield
    finally:
        database.drop_index()


def _stop(_signal: int, _frame: object) -> None:
    raise SystemExit(1)


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, write the samples where asked to."""
    options = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, _stop)  # which ends the servers too
    try:
        with (
            locked(options.cache),
            tempfile.TemporaryDirectory(prefix="imprint-bench-") as run,
        ):
            benchmark = Benchmark(options, pathlib.Path(run))
            benchmark.measure()
    except BenchmarkError as exc:
        print(f"bench.relations: {exc}", file=sys.stderr)
        return 1
    benchmark.report.print()
    if options.json:
        benchmark.report.write(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
