"""The figures beside the goals, for people and as JSON."""

import dataclasses
import json
import os
import pathlib
import platform
import statistics
from collections.abc import Callable, Sequence

from bench.relations import lists, others
from bench.relations.figures import Ratio, compare

#: The goals are about a cloud of this size.
MILLION = 1_000_000

Samples = dict[str, list[float]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Goal:
    """What a figure may be: at least, or at most."""

    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        if self.least is not None:
            return f"at least {self.least:g}"
        return f"at most {self.most:g}"

    def judge(self, value: float, low: float, high: float) -> str:
        """Say whether a figure meets it, and whether that is sure."""
        bound = self.least if self.least is not None else self.most or 0.0
        met = value >= bound if self.least is not None else value <= bound
        verdict = "met" if met else "missed"
        return (
            f"{verdict}, within the noise" if low <= bound <= high else verdict
        )


FASTER = {
    "admin": Goal(least=300),
    "big tenant": Goal(least=100),
    "small tenant": Goal(least=0.9),
}
GROWTH = Goal(most=1.3)
OVER_BARE = Goal(most=1.25)
REQUESTS = Goal(most=1.01)
THROUGHPUT = Goal(least=0.98)
#: of 200: a body that is kept in memory would be all of it
MEBIBYTES = Goal(most=16)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One figure; ``goal`` is None where it is only to compare with."""

    database: str
    images: int
    what: str
    value: float
    low: float
    high: float
    goal: str | None = None
    verdict: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """All samples of one arm, in seconds."""

    database: str
    images: int
    what: str
    arm: str
    samples: list[float]


@dataclasses.dataclass
class Report:
    """Everything that the measurement said."""

    processors: int | None = dataclasses.field(default_factory=os.cpu_count)
    platform: str = dataclasses.field(default_factory=platform.platform)
    load: list[float] = dataclasses.field(default_factory=list)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    measured: list[Measured] = dataclasses.field(default_factory=list)
    rows: list[Row] = dataclasses.field(default_factory=list)

    def add_lists(
        self, place: tuple[str, int], caller: str, stock: Samples
    ) -> None:
        """Add the lists of a caller beside Glance as it is."""
        self._keep(place, caller, stock)
        million = place[1] == MILLION
        ours = stock[lists.OURS]
        add = self._adder(place)
        add(
            f"{caller}: instance_uuid filter / Imprint",
            compare(stock[lists.FILTER], ours),
            FASTER[caller] if million else None,
        )
        add(
            f"{caller}: Imprint / id=in:",
            compare(ours, stock[lists.BARE]),
            OVER_BARE if million else None,
        )
        if lists.SMALLEST in stock:
            add(
                f"{caller}: Imprint / Imprint with the fewest images",
                compare(ours, stock[lists.SMALLEST]),
                GROWTH if million else None,
            )

    def add_index(
        self, place: tuple[str, int], caller: str, indexed: Samples
    ) -> None:
        """Add the lists of a caller beside Glance with one more index."""
        self._keep(place, f"{caller}, one more index", indexed)
        self._adder(place)(
            f"{caller}: the same with an index / Imprint",
            compare(indexed[lists.INDEXED], indexed[lists.OURS]),
            None,
        )

    def add_requests(
        self, place: tuple[str, int], kinds: dict[str, Samples]
    ) -> None:
        """Add what the filter costs requests that it lets pass."""
        add = self._adder(place)
        for kind, samples in kinds.items():
            self._keep(place, kind, samples)
            base = samples[others.STOCK]
            add(
                f"{kind}: stock again / stock",
                compare(samples[others.AGAIN], base),
                None,
            )
            add(
                f"{kind}: Imprint / stock",
                compare(samples[others.IMPRINT], base),
                REQUESTS,
            )

    def add_transfers(
        self,
        place: tuple[str, int],
        uploads: Samples,
        transfers: others.Transfers,
    ) -> None:
        """Add throughput, the inverse of time, and memory."""
        add = self._adder(place)
        kinds = {"upload": uploads, "download": transfers.downloads}
        for kind, samples in kinds.items():
            self._keep(place, kind, samples)
            base = samples[others.STOCK]
            for arm in (others.AGAIN, others.IMPRINT):
                goal = THROUGHPUT if arm == others.IMPRINT else None
                add(
                    f"{kind}, throughput: {arm} / stock",
                    compare(base, samples[arm]),
                    goal,
                )
        for arm, sizes in transfers.growth.items():
            grown = [size / (1 << 20) for size in sizes]
            most = max(grown)
            add(
                f"upload, MiB that {arm} grew by",
                Ratio(value=most, low=min(grown), high=most),
                MEBIBYTES if arm == others.IMPRINT else None,
            )

    def _keep(
        self, place: tuple[str, int], what: str, samples: Samples
    ) -> None:
        database, images = place
        self.measured += [
            Measured(
                database=database,
                images=images,
                what=what,
                arm=arm,
                samples=taken,
            )
            for arm, taken in samples.items()
        ]

    def _adder(
        self, place: tuple[str, int]
    ) -> Callable[[str, Ratio, Goal | None], None]:
        database, images = place

        def add(what: str, figure: Ratio, goal: Goal | None) -> None:
            spread = dataclasses.asdict(figure)
            self.rows.append(
                Row(
                    database=database,
                    images=images,
                    what=what,
                    goal=str(goal) if goal else None,
                    verdict=goal.judge(**spread) if goal else None,
                    **spread,
                )
            )

        return add

    def write(self, path: pathlib.Path) -> None:
        """Write everything as JSON."""
        path.write_text(json.dumps(dataclasses.asdict(self), indent=2) + "\n")

    def print(self) -> None:
        """Print the times, then the figures with their goals."""
        _print_times(self.measured)
        print()
        _print_figures(self.rows)


def _print_times(measured: Sequence[Measured]) -> None:
    print(
        f"{'database':<11}{'images':>8}  {'what':<30}{'arm':<24}"
        f"{'samples':>7}{'median':>12}{'p90':>12}"
    )
    for each in measured:
        median = statistics.median(each.samples) * 1000
        p90 = statistics.quantiles(each.samples, n=10)[-1] * 1000
        print(
            f"{each.database:<11}{each.images:>8}  {each.what:<30}"
            f"{each.arm:<24}{len(each.samples):>7}{median:>9.1f} ms"
            f"{p90:>9.1f} ms"
        )


def _print_figures(rows: Sequence[Row]) -> None:
    print(
        f"{'database':<11}{'images':>8}  {'figure':<54}{'value':>9}  "
        f"{'95 % interval':<20}goal"
    )
    for row in rows:
        interval = f"{row.low:.3f} to {row.high:.3f}"
        goal = f"{row.goal}: {row.verdict}" if row.goal else ""
        print(
            f"{row.database:<11}{row.images:>8}  {row.what:<54}"
            f"{row.value:>9.3f}  {interval:<20}{goal}".rstrip()
        )
