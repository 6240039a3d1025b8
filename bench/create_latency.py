"""Measure what Imprint adds to the latency of creating a server.

Two clouds of the same make stand beside each other on one machine, one with
Imprint and one without (``imprint-cloud up --stock``). A sample is the time
from sending ``POST /servers`` until its 202 has arrived. Every round takes
one sample of each arm, in random order, so that whatever else the machine
does meets all arms alike:

stock       the stock cloud
stock again the same once more: its ratio is the noise of the measurement,
            and both clouds hold the same number of servers
unused      the cloud with Imprint, no override
overridden  the cloud with Imprint, 20 overrides

No guest starts: the flavor's disk fits no host, the scheduler finds none and
the server ends in ERROR. The next sample waits for that, as the scheduling
of one server would disturb the next. No network is asked for, which leaves
Neutron's share out of the latency and makes the ratios larger, not smaller.
"""

import argparse
import dataclasses
import http
import json
import os
import pathlib
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import openstack
import requests
from openstack.compute.v2 import flavor as _flavor
from openstack.config import loader

from imprint.client import versions

MICROVERSION = "2.98"
FLAVOR = "imprint-bench"
DISK_GIB = 1_000_000  # more than any host has; Nova has no quota for it
SETTLED_SECONDS = 60
RESAMPLES = 10_000

OVERRIDES = {
    "hw_boot_menu": "true",
    "hw_cdrom_bus": "sata",
    "hw_cpu_cores": "1",
    "hw_cpu_sockets": "1",
    "hw_cpu_threads": "1",
    "hw_disk_bus": "scsi",
    "hw_input_bus": "usb",
    "hw_machine_type": "q35",
    "hw_pointer_model": "usbtablet",
    "hw_qemu_guest_agent": "yes",
    "hw_rng_model": "virtio",
    "hw_scsi_model": "virtio-scsi",
    "hw_time_hpet": "false",
    "hw_vif_model": "virtio",
    "hw_vif_multiqueue_enabled": "false",
    "hw_video_model": "virtio",
    "hw_watchdog_action": "reset",
    "os_command_line": "console=ttyS0 inst.ks=http://192.0.2.1/ks?a=b",
    "os_require_quiesce": "no",
    "os_type": "linux",
}


class BenchmarkError(Exception):
    """The clouds do not let the measurement happen; the message says why."""


class Cloud:
    """One cloud as a tenant sees it, over one connection kept alive."""

    def __init__(self, directory: pathlib.Path) -> None:
        files = [str(directory / "clouds.yaml")]
        config = loader.OpenStackConfig(config_files=files)
        self._admin = openstack.connection.Connection(
            config=config.get_one("admin")
        )
        alice = openstack.connection.Connection(config=config.get_one("alice"))
        self._flavor = self._ensure_flavor()
        self._image = alice.image.find_image("tiny", ignore_missing=False)
        self._servers: list[str] = []
        self._url = f"{alice.compute.get_endpoint().rstrip('/')}/servers"
        self._session = requests.Session()
        self._session.trust_env = False  # loopback needs no proxy
        self._session.headers.update(
            {
                "X-Auth-Token": str(alice.auth_token),
                "OpenStack-API-Version": f"compute {MICROVERSION}",
            }
        )

    def _ensure_flavor(self) -> _flavor.Flavor:
        compute = self._admin.compute
        found = compute.find_flavor(FLAVOR, ignore_missing=True)
        return found or compute.create_flavor(
            name=FLAVOR, ram=64, vcpus=1, disk=DISK_GIB
        )

    def imprint(self) -> str | None:
        """Return the version of Imprint that answers, None where none is."""
        headers = {versions.REQUEST_HEADER: versions.VERSION}
        response = self._session.get(
            self._url, params={"limit": 1}, headers=headers
        )
        response.raise_for_status()
        return versions.negotiated(response.headers)

    def create(self, overrides: Mapping[str, str]) -> float:
        """Create a server; return the seconds until its 202 was here."""
        server: dict[str, Any] = {
            "name": "imprint-bench",
            "imageRef": self._image.id,
            "flavorRef": self._flavor.id,
            "networks": "none",
        }
        if overrides:
            server["image_props_override"] = dict(overrides)
        body = json.dumps({"server": server})
        headers = {"Content-Type": "application/json"}

        start = time.perf_counter()
        response = self._session.post(self._url, data=body, headers=headers)
        seconds = time.perf_counter() - start

        if response.status_code != http.HTTPStatus.ACCEPTED:
            raise BenchmarkError(
                f"POST {self._url}: {response.status_code} {response.text}"
            )
        self._servers.append(response.json()["server"]["id"])
        self._settle(self._servers[-1])
        return seconds

    def _settle(self, server: str) -> None:
        """Wait until the scheduler has given up on ``server``."""
        deadline = time.monotonic() + SETTLED_SECONDS
        while time.monotonic() < deadline:
            response = self._session.get(f"{self._url}/{server}")
            response.raise_for_status()
            status = response.json()["server"]["status"]
            if status == "ERROR":
                return
            if status != "BUILD":
                raise BenchmarkError(f"server {server} is {status}, not ERROR")
            time.sleep(0.05)
        raise BenchmarkError(
            f"server {server} is in BUILD after {SETTLED_SECONDS} s"
        )

    def delete_servers(self) -> None:
        """Delete the servers that were created since the last time."""
        while self._servers:
            url = f"{self._url}/{self._servers.pop()}"
            self._session.delete(url).raise_for_status()

    def close(self) -> None:
        """Leave nothing of the measurement behind."""
        self.delete_servers()
        self._admin.compute.delete_flavor(self._flavor)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arm:
    """One way of creating a server, and the goal for its ratio to stock."""

    name: str
    sample: Callable[[], float]
    goal: float | None = None


def arms(imprint: Cloud, stock: Cloud) -> list[Arm]:
    """Return the arms, the first of which the others are compared with."""
    return [
        Arm(name="stock", sample=lambda: stock.create({})),
        Arm(name="stock again", sample=lambda: stock.create({})),
        Arm(name="unused", sample=lambda: imprint.create({}), goal=1.02),
        Arm(
            name="overridden",
            sample=lambda: imprint.create(OVERRIDES),
            goal=1.05,
        ),
    ]


def measure(
    among: Sequence[Arm], *, rounds: int, order: random.Random
) -> Iterator[dict[str, float]]:
    """Yield one sample of every arm per round, in seconds."""
    for _ in range(rounds):
        samples = {
            arm.name: arm.sample() for arm in order.sample(among, k=len(among))
        }
        yield {arm.name: samples[arm.name] for arm in among}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio of two medians and its 95 % confidence interval."""

    value: float
    low: float
    high: float


def ratio(
    measured: Sequence[float], base: Sequence[float], chance: random.Random
) -> Ratio:
    """Compare two arms, sample by sample of the same round.

    The interval is a percentile bootstrap over whole rounds: a slow moment
    of the machine is in or out for both arms.
    """
    pairs = list(zip(measured, base, strict=True))

    def of(sample: Sequence[tuple[float, float]]) -> float:
        over = statistics.median(pair[0] for pair in sample)
        return over / statistics.median(pair[1] for pair in sample)

    resampled = sorted(
        of(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES)
    )
    return Ratio(
        value=of(pairs),
        low=resampled[int(RESAMPLES * 0.025)],
        high=resampled[int(RESAMPLES * 0.975) - 1],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What the report says of one arm; times in milliseconds."""

    arm: str
    samples: int
    median: float
    p90: float
    ratio: Ratio | None
    goal: float | None
    met: bool | None


def summarize(
    among: Sequence[Arm],
    rounds: Sequence[Mapping[str, float]],
    chance: random.Random,
) -> list[Row]:
    """Return one row per arm, compared with the first."""
    base = [samples[among[0].name] for samples in rounds]
    rows = []
    for arm in among:
        seconds = [samples[arm.name] for samples in rounds]
        first = arm is among[0]
        compared = None if first else ratio(seconds, base, chance)
        rows.append(
            Row(
                arm=arm.name,
                samples=len(seconds),
                median=statistics.median(seconds) * 1000,
                p90=statistics.quantiles(seconds, n=10)[-1] * 1000,
                ratio=compared,
                goal=arm.goal,
                met=compared.value <= arm.goal
                if compared and arm.goal
                else None,
            )
        )
    return rows


def print_table(rows: Sequence[Row]) -> None:
    """Print the report for people."""
    print(
        f"{'POST /servers':<13} {'samples':>8} {'median':>10} {'p90':>10} "
        f"{'ratio':>7}  {'95 % interval':<14}  goal"
    )
    for row in rows:
        line = (
            f"{row.arm:<13} {row.samples:>8} "
            f"{row.median:>7.1f} ms {row.p90:>7.1f} ms"
        )
        if row.ratio:
            interval = f"{row.ratio.low:.3f} to {row.ratio.high:.3f}"
            line += f" {row.ratio.value:>7.3f}  {interval:<14}"
        if row.ratio and row.goal:
            verdict = "met" if row.met else "missed"
            if row.ratio.low <= row.goal <= row.ratio.high:
                verdict += ", within the noise"
            line += f"  at most {row.goal:.2f}: {verdict}"
        print(line)


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Compare create-server latency with and without Imprint."
    )
    parser.add_argument("imprint", type=pathlib.Path, metavar="CLOUD")
    parser.add_argument("stock", type=pathlib.Path, metavar="STOCK-CLOUD")
    parser.add_argument(
        "--rounds", type=int, default=200, help="samples per arm"
    )
    parser.add_argument(
        "--warm-up", type=int, default=10, help="rounds that do not count"
    )
    parser.add_argument(
        "--batch", type=int, default=20, help="rounds between deletions"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the order and the bootstrap"
    )
    parser.add_argument(
        "--output", type=pathlib.Path, help="write all samples here, as JSON"
    )
    return parser.parse_args(arguments)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that the measurement said, and what repeats it."""

    imprint: str
    seed: int
    warm_up: int
    processors: int | None
    platform: str
    arms: list[Row]
    seconds: dict[str, list[float]]


def run(options: argparse.Namespace, imprint: Cloud, stock: Cloud) -> Report:
    """Measure and return the report."""
    if stock.imprint():
        raise BenchmarkError(f"{options.stock} is not a stock cloud")
    version = imprint.imprint()
    if not version:
        raise BenchmarkError(f"{options.imprint} does not have Imprint")
    chance = random.Random(options.seed)  # noqa: S311  no secret
    among = arms(imprint, stock)
    rounds: list[dict[str, float]] = []
    total = options.warm_up + options.rounds
    for samples in measure(among, rounds=total, order=chance):
        rounds.append(samples)
        if len(rounds) % options.batch == 0:
            imprint.delete_servers()
            stock.delete_servers()
            print(f"{len(rounds)} of {total} rounds", file=sys.stderr)
    counted = rounds[options.warm_up :]
    return Report(
        imprint=version,
        seed=options.seed,
        warm_up=options.warm_up,
        processors=os.cpu_count(),
        platform=platform.platform(),
        arms=summarize(among, counted, chance),
        seconds={
            arm.name: [samples[arm.name] for samples in counted]
            for arm in among
        },
    )


def main(arguments: Sequence[str]) -> int:
    """Measure, print a table, write the samples where asked to."""
    options = parse_arguments(arguments)
    clouds = [Cloud(options.imprint), Cloud(options.stock)]
    try:
        report = run(options, *clouds)
    except BenchmarkError as exc:
        print(f"create_latency: {exc}", file=sys.stderr)
        return 1
    finally:
        for cloud in clouds:
            cloud.close()
    print_table(report.arms)
    if options.output:
        options.output.write_text(
            json.dumps(dataclasses.asdict(report), indent=2) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
