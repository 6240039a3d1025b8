"""Measure our reader of the libosinfo database beside libosinfo itself.

Every sample is a process of its own. It imports what it needs, and then:

cold    from nothing to the first answer: the names of all devices of a system
        that is asked for by its short id
warm    the same question again, the mean of many
memory  what the process has grown by since its imports

libosinfo's side does what Nova's nova.virt.osinfo does: the default path, a
filter by short id, all devices. It runs in Debian's own Python, where GObject
introspection is; ours runs in the Python that runs this. A round takes a
sample of each, in random order, so that whatever else the machine does meets
both alike. The medians are compared.

Our reader looks for changed files about once a second, when it is asked;
libosinfo never does. What such a question takes stands below the table.
"""

import argparse
import dataclasses
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

DEBIAN_PYTHON = "/usr/bin/python3"
WARM = 100  # questions

SHORT_IDS = ("ubuntu22.04", "win10", "rhel9.0", "freebsd13.1")


@dataclasses.dataclass(frozen=True)
class Goal:
    """What is measured, its unit, and the part of libosinfo's it may be."""

    name: str
    unit: str
    part: int


GOALS = (
    Goal("cold CPU", "ms", 6),
    Goal("cold wall", "ms", 6),
    Goal("warm CPU", "us", 30),
    Goal("memory", "KiB", 6),
)


def resident() -> int:
    """Return the resident memory of this process in KiB."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def prepare_libosinfo() -> Callable[[], Callable[[str], list[str]]]:
    """Import libosinfo; return what loads it and then answers."""
    import gi  # noqa: PLC0415  only Debian's Python has it

    gi.require_version("Libosinfo", "1.0")
    from gi.repository import Libosinfo  # noqa: PLC0415

    def load() -> Callable[[str], list[str]]:
        loader = Libosinfo.Loader()
        loader.process_default_path()
        systems = loader.get_db().get_os_list()

        def ask(short_id: str) -> list[str]:
            wanted = Libosinfo.Filter.new()
            wanted.add_constraint("short-id", short_id)
            system = systems.new_filtered(wanted).get_nth(0)
            devices = system.get_all_devices(None)
            count = devices.get_length()
            return [devices.get_nth(i).get_name() for i in range(count)]

        return ask

    return load


def prepare_imprint() -> Callable[[], Callable[[str], list[str]]]:
    """Import our reader; return what loads it and then answers."""
    from imprint.osinfo import database, search_path  # noqa: PLC0415

    def load() -> Callable[[str], list[str]]:
        path = search_path.build_search_path(os.environ)
        found = database.Database(path)

        def ask(short_id: str) -> list[str]:
            system = found.find(short_id)
            if system is None:
                raise SystemExit(f"{short_id} is not in the database")
            return list(system.devices)

        return ask

    return load


SIDES = {"libosinfo": prepare_libosinfo, "imprint": prepare_imprint}


def sample(side: str, short_id: str) -> dict[str, Any]:
    """Measure one side in this process, which has done nothing yet."""
    load = SIDES[side]()
    memory = resident()
    cpu, wall = time.process_time(), time.perf_counter()
    ask = load()
    devices = ask(short_id)
    cold_cpu = time.process_time() - cpu
    cold_wall = time.perf_counter() - wall

    cpu = time.process_time()
    for _ in range(WARM):
        ask(short_id)
    warm = (time.process_time() - cpu) / WARM
    grown = resident() - memory

    looking = 0.0
    if side == "imprint":
        time.sleep(1.1)  # the next question looks for changed files
        cpu = time.process_time()
        ask(short_id)
        looking = time.process_time() - cpu
    return {
        "devices": sorted(devices),
        "cold CPU": cold_cpu * 1e3,
        "cold wall": cold_wall * 1e3,
        "warm CPU": warm * 1e6,
        "memory": grown,
        "looking": looking * 1e3,
    }


def measure(
    short_ids: Sequence[str], rounds: int, chance: random.Random
) -> dict[str, list[dict[str, Any]]]:
    """Return the samples of each side; sample i of both is of one round."""
    pythons = {"libosinfo": DEBIAN_PYTHON, "imprint": sys.executable}
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for number in range(rounds):
        for short_id in short_ids:
            for side in chance.sample(list(SIDES), k=len(SIDES)):
                command = [
                    pythons[side],
                    "-W",
                    "ignore",  # deprecated in libosinfo, not in Nova
                    __file__,
                    "--side",
                    side,
                    short_id,
                ]
                ran = subprocess.run(
                    command, check=True, stdout=subprocess.PIPE
                )
                if number:  # the first round only warms the page cache
                    found[side].append(json.loads(ran.stdout))
    return found


def report(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
    """Print the medians and their ratios; tell whether the goals are met."""
    met = True
    print(f"{'':10} {'libosinfo':13} {'imprint':13}  ratio")
    for goal in GOALS:
        theirs, ours = (
            statistics.median(each[goal.name] for each in found[side])
            for side in ("libosinfo", "imprint")
        )
        ratio = theirs / max(ours, 1e-9)
        reached = ratio >= goal.part
        met = met and reached
        print(
            f"{goal.name:10} {theirs:9.1f} {goal.unit:3} "
            f"{ours:9.1f} {goal.unit:3}  1/{ratio:.1f} "
            f"(goal 1/{goal.part}: {'met' if reached else 'MISSED'})"
        )
    looking = statistics.median(each["looking"] for each in found["imprint"])
    print(f"Looking for changed files takes {looking:.1f} ms of CPU.")
    return met


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("short_ids", nargs="*", default=list(SHORT_IDS))
    args = parser.parse_args()
    if args.side:
        [short_id] = args.short_ids
        print(json.dumps(sample(args.side, short_id)))
        return 0
    # one more round, which is not counted
    found = measure(args.short_ids, args.rounds + 1, random.Random())  # noqa: S311 an order
    for theirs, ours in zip(found["libosinfo"], found["imprint"], strict=True):
        if theirs["devices"] != ours["devices"]:
            raise SystemExit(
                f"The answers differ: {theirs['devices']} in libosinfo, "
                f"{ours['devices']} here"
            )
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
