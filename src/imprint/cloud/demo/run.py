"""Boots the demo's cases, some at once, and compares what came of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imprint.cloud.content import NETWORK
from imprint.cloud.demo import report
from imprint.cloud.demo.cases import build_cases, build_refusals
from imprint.cloud.demo.systems import (
    LEGEND,
    build_question,
    build_systems,
    describe_reasons,
    describe_timers,
    find_differences,
    parse_explanation,
)
from imprint.cloud.servers import ServerError, read_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from openstack.connection import Connection

    from imprint.cloud.demo.cases import Case, Check, Refusal
    from imprint.cloud.progress import Progress
    from imprint.cloud.servers import Cloud

# Two guests keep two processors busy; more only wait for each other.
AT_ONCE = 2
_FREE_PAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
# The memory of the flavor tiny.pages, in pages of 2 MiB.
_PAGES_WANTED = 96


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of one case."""

    guest: list[str] = field(default_factory=list)
    domain: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Demo:
    """The demo, as one tenant; only the images are looked at as admin."""

    cloud: Cloud
    admin: Connection
    progress: Progress

    def run(self) -> list[str]:
        """Run it and print its tables; return what is not as it must be.

        Raises CloudError when the cloud does not even take questions.
        """
        images = self.read_images()
        ids = self.find_ids(images)
        refusals = build_refusals()
        systems = build_systems()
        # Those of a run before, which may hold the huge pages.
        with_pages, without = (
            build_cases(huge_pages=having) for having in (True, False)
        )
        self.remove(
            [
                *(case.name for case in (*with_pages, *without, *systems)),
                *(refusal.name for refusal in refusals),
            ]
        )
        cases = with_pages if has_huge_pages() else without
        failures = [
            *self.show_properties(cases, refusals, ids),
            *self.show_systems(systems, ids),
        ]
        after = self.read_images()
        self.progress.say(f"images: {len(images)} before, {len(after)} after")
        self.progress.record("demo", self.progress.total)
        if images != after:
            failures.append("an image was changed, added or removed")
        return failures

    def show_properties(
        self,
        cases: Sequence[Case],
        refusals: Sequence[Refusal],
        ids: Mapping[str, str],
    ) -> list[str]:
        """Boot one image with many properties; return what is wrong."""
        self.progress.say(
            f"booting {len(cases)} servers, {AT_ONCE} at once; each waits for"
            " its guest's own words"
        )
        refused = [self.refuse(one, ids) for one in refusals]
        booted = self.boot_all(cases, ids)
        rows = [
            *map(build_row, cases, booted),
            *map(build_refusal_row, refusals, refused),
        ]
        self.progress.say(f"\n{report.build_table(rows)}\n")
        return list_failures([*booted, *refused])

    def show_systems(
        self, systems: Sequence[Case], ids: Mapping[str, str]
    ) -> list[str]:
        """Boot one disk as many systems; return what is wrong."""
        self.progress.say(
            f"booting the same disk as {len(systems)} systems: all else"
            " follows from the name"
        )
        booted = self.boot_all(systems, ids)
        rows = map(build_system_row, systems, booted)
        table = report.build_table(rows, report.SYSTEMS)
        self.progress.say(f"\n{table}\n{LEGEND}\n")
        return list_failures(booted)

    def boot_all(
        self, cases: Iterable[Case], ids: Mapping[str, str]
    ) -> list[Seen]:
        """Boot cases, some at once; return what came of each."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda one: self.boot(one, ids), cases))

    def read_images(self) -> dict[str, tuple[str, str]]:
        """Read name and time of change of all images, by id."""
        return {
            image.id: (image.name, image.updated_at)
            for image in self.admin.image.images()
        }

    def find_ids(
        self, images: Mapping[str, tuple[str, str]]
    ) -> dict[str, str]:
        """Find the ids of images, flavors and the network, by name."""
        connection = self.cloud.connection
        ids = {name: image for image, (name, _) in images.items()}
        # A flavor may have an image's name.
        for flavor in connection.compute.flavors(details=False):
            ids[f"flavor {flavor.name}"] = flavor.id
        for network in connection.network.networks(name=NETWORK):
            ids["network"] = network.id
        return ids

    def remove(self, names: Iterable[str]) -> None:
        """Delete the tenant's servers of these names."""
        wanted = set(names)
        there = self.cloud.connection.compute.servers(details=False)
        found = [one.id for one in there if one.name in wanted]
        if found:
            with self.progress.phase(f"{len(found)} servers removed"):
                self.cloud.delete(found)

    def refuse(self, refusal: Refusal, ids: Mapping[str, str]) -> Seen:
        """Ask for what must be refused."""
        answer = self.cloud.create(
            refusal.name,
            image=ids["tiny"],
            flavor=ids["flavor tiny"],
            network=ids["network"],
            override=refusal.override,
        )
        message = read_fault(answer)
        seen = Seen(guest=[f"{answer.status_code}: {message}"])
        if answer.status_code != refusal.status:
            seen.failures.append(
                f"{refusal.name}: {refusal.status} expected,"
                f" got {answer.status_code}: {message}"
            )
        elif refusal.message not in message:
            seen.failures.append(
                f"{refusal.name}: the refusal does not name"
                f" {refusal.message}: {message}"
            )
        there = self.cloud.connection.compute.servers(name=refusal.name)
        if next(there, None):
            seen.failures.append(f"{refusal.name}: a server was created")
        return seen

    def boot(self, case: Case, ids: Mapping[str, str]) -> Seen:
        """Boot one case, wait for its guest, compare."""
        try:
            with self.progress.phase(case.name):
                server = self.cloud.create_accepted(
                    case.name,
                    image=ids[case.image],
                    flavor=ids[f"flavor {case.flavor}"],
                    network=ids["network"],
                    override=case.override,
                )
                console = self.cloud.wait_console(server, case.printed)
            domain = self.cloud.read_domain(server)
            seen = compare(case, console, domain)
            if "os_name" in case.override:
                self.explain(case, server, domain, seen)
            if not case.kept:
                self.cloud.delete([server])
        except ServerError as error:
            return Seen(guest=["failed"], failures=[f"{case.name}: {error}"])
        return seen

    def explain(
        self, case: Case, server: str, domain: Element, seen: Seen
    ) -> None:
        """Ask why a server got its hardware; lay that against what it has.

        The rules and the database are asked where nova-compute asks them.
        """
        answer = self.cloud.run(
            self.cloud.find_host(server), *build_question(case, domain)
        )
        choices = parse_explanation(answer)
        seen.domain.append(describe_timers(domain))
        seen.why.extend(describe_reasons(choices))
        seen.failures.extend(
            f"{case.name}: {difference}"
            for difference in find_differences(
                choices, self.cloud.read_properties(server), domain
            )
        )


def list_failures(booted: Iterable[Seen]) -> list[str]:
    """List all that is not as it must be."""
    return [failure for seen in booted for failure in seen.failures]


def has_huge_pages() -> bool:
    """Say whether this machine has free pages of 2 MiB for one server."""
    try:
        return int(_FREE_PAGES.read_text()) >= _PAGES_WANTED
    except FileNotFoundError:
        return False


def compare(case: Case, console: str, domain: Element) -> Seen:
    """Compare what guest and domain say with what they must."""
    seen = Seen()
    seen.guest.extend(_look(case, one, console, seen) for one in case.guest)
    seen.domain.extend(_look(case, one, domain, seen) for one in case.domain)
    return seen


def _look(case: Case, check: Check[Any], source: Any, seen: Seen) -> str:
    actual = check.read(source)
    if actual == check.expected:
        return f"{check.label} {actual}"
    seen.failures.append(
        f"{case.name}: {check.label}: expected {check.expected!r},"
        f" got {actual!r}"
    )
    return f"{check.label} {actual or 'missing'} (!)"


def build_row(case: Case, seen: Seen) -> report.Row:
    """Build the row of a server that booted."""
    name = [case.name, *([f"({case.note})"] if case.note else [])]
    override = list(_describe(case.override))
    return report.Row(cells=[name, override, seen.guest, seen.domain])


def build_system_row(case: Case, seen: Seen) -> report.Row:
    """Build the row of a server that has an operating system's hardware."""
    names = [case.name, *_describe(case.override)]
    return report.Row(cells=[names, seen.guest, seen.domain, seen.why])


def build_refusal_row(refusal: Refusal, seen: Seen) -> report.Row:
    """Build the row of one that was refused."""
    override = list(_describe(refusal.override))
    return report.Row(cells=[[refusal.name], override, seen.guest])


def _describe(override: Mapping[str, str]) -> Iterator[str]:
    for key, value in override.items():
        yield f"{key}={value}"
