"""What a file of the database says, and how one system inherits of another.

Pure: entries in, facts out.  Knows neither files nor XML.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from imprint.hardware import facts

_T = TypeVar("_T")

#: finds the entry of a URI; None: the database does not have it
Find = Callable[[str], "Entry | None"]


def _nothing() -> Any:
    return dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Demand:
    """What one system asks of a machine, before it inherits."""

    asked: facts.Resources
    inherit: bool = False  # what is not said comes from the ancestors


@dataclasses.dataclass(frozen=True, kw_only=True)
class Driver:
    """Drivers for an operating system that it does not come with."""

    arch: str | None = None
    location: str | None = None  # URL
    pre_installable: bool = False
    signed: bool = False
    devices: tuple[str, ...] = ()  # URIs, by name


@dataclasses.dataclass(frozen=True, kw_only=True)
class Device:
    """A device that a guest can have."""

    id: str
    name: str | None = None  # "virtio1.0-net"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """What the database says of one operating system itself."""

    id: str
    short_ids: tuple[str, ...] = ()
    name: str | None = None
    family: str | None = None
    distro: str | None = None
    version: str | None = None
    release_date: str | None = None
    devices: Mapping[str, bool] = _nothing()  # URI -> supported
    derives_from: tuple[str, ...] = ()  # in the order of the document
    clones: tuple[str, ...] = ()  # likewise
    # by the name of the extension and the place in it: a part of the same
    # name in a directory of higher priority replaces it
    firmware: Mapping[str, facts.Firmware] = _nothing()
    minimum: Mapping[str, Demand] = _nothing()
    recommended: Mapping[str, Demand] = _nothing()
    drivers: Mapping[str, Driver] = _nothing()


def merge(entries: Sequence[Entry]) -> Entry:
    """Return what the files of one system say together, one or more.

    A later single value replaces an earlier one; lists grow.
    """
    if len(entries) == 1:
        return entries[0]

    def last(texts: Iterable[str | None]) -> str | None:
        return next(filter(None, reversed([*texts])), None)

    def joined(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(lists))

    def united(mappings: Iterable[Mapping[str, _T]]) -> dict[str, _T]:
        return {key: value for each in mappings for key, value in each.items()}

    return Entry(
        id=entries[0].id,
        short_ids=tuple(
            dict.fromkeys(joined(each.short_ids for each in entries))
        ),
        name=last(each.name for each in entries),
        family=last(each.family for each in entries),
        distro=last(each.distro for each in entries),
        version=last(each.version for each in entries),
        release_date=last(each.release_date for each in entries),
        devices=united(each.devices for each in entries),
        derives_from=joined(each.derives_from for each in entries),
        clones=joined(each.clones for each in entries),
        firmware=united(each.firmware for each in entries),
        minimum=united(each.minimum for each in entries),
        recommended=united(each.recommended for each in entries),
        drivers=united(each.drivers for each in entries),
    )


def lineage(entry: Entry, find: Find) -> Iterator[Entry]:
    """Yield ``entry``, then all it inherits from, the nearest first.

    Depth first: what it derives from, the last in the document first, then
    what it clones.  No system comes twice, so a circle ends.
    """
    seen = set()
    ahead = [entry]
    while ahead:
        nearest = ahead.pop()
        if nearest.id in seen:
            continue
        seen.add(nearest.id)
        yield nearest
        # the one to visit next goes last on the stack
        parents = map(find, (*nearest.clones, *nearest.derives_from))
        ahead.extend(parent for parent in parents if parent is not None)


def build_facts(
    entry: Entry, find: Find, name_of: Callable[[str], str]
) -> facts.OsFacts:
    """Return ``entry`` with everything it inherits.

    ``name_of`` gives the name of a device for its URI.  Names, family,
    distro, version and drivers are a system's own.
    """
    ancestors = tuple(lineage(entry, find))
    links: dict[str, tuple[bool, str]] = {}
    firmware: dict[tuple[str, str], facts.Firmware] = {}
    for each in ancestors:
        for device, supported in each.devices.items():
            links.setdefault(device, (supported, each.id))
        for one in _firmware(each):
            firmware.setdefault((one.arch, one.kind), one)
    devices = {
        name_of(device): by for device, (yes, by) in links.items() if yes
    }
    return facts.OsFacts(
        id=entry.id,
        short_ids=entry.short_ids,
        name=entry.name,
        family=entry.family,
        distro=entry.distro,
        version=entry.version,
        release_date=entry.release_date,
        devices=devices,
        removed={
            name: by
            for device, (yes, by) in links.items()
            if not yes and (name := name_of(device)) not in devices
        },
        firmware=tuple(firmware.values()),
        minimum=_demands([each.minimum.values() for each in ancestors]),
        recommended=_demands(
            [each.recommended.values() for each in ancestors]
        ),
    )


def _firmware(entry: Entry) -> Iterable[facts.Firmware]:
    """Return an entry's own firmware; who contradicts itself says no."""
    said: dict[tuple[str, str], facts.Firmware] = {}
    for each in entry.firmware.values():
        before = said.setdefault((each.arch, each.kind), each)
        if before.supported:
            said[each.arch, each.kind] = each
    return said.values()


def _demands(
    nearest_first: Sequence[Iterable[Demand]],
) -> tuple[facts.Resources, ...]:
    """Return the first system's demands, filled up where they inherit."""
    own, *ancestors = nearest_first
    inherited: dict[str, facts.Resources] = {}
    for each in itertools.chain.from_iterable(ancestors):
        nearer = inherited.setdefault(each.asked.arch, each.asked)
        inherited[each.asked.arch] = _fill(nearer, each.asked)
    return tuple(
        _fill(demand.asked, inherited.get(demand.asked.arch, demand.asked))
        if demand.inherit
        else demand.asked
        for demand in own
    )


def _fill(asked: facts.Resources, other: facts.Resources) -> facts.Resources:
    """Return ``asked`` with what only ``other`` says."""

    def first(mine: int | None, theirs: int | None) -> int | None:
        return theirs if mine is None else mine

    return facts.Resources(
        arch=asked.arch,
        cpus=first(asked.cpus, other.cpus),
        ram=first(asked.ram, other.ram),
        storage=first(asked.storage, other.storage),
    )
