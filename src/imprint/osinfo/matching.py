"""Which system of the database a name means that is not in it as such.

A database is always older than the newest system.  A name that it does not
know is not nothing: the nearest older version is a better answer than a
default that fits no system.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable

from imprint.hardware import facts
from imprint.osinfo import listing, model, snapshot, versions

MAX_LENGTH = 255  # of an image property

# Glance's words for os_distro, and those of os-release(5), that are others
# than libosinfo's
_DISTROS = {
    "windows": "win",
    "arch": "archlinux",
    "alpine": "alpinelinux",
    "opensuse-leap": "opensuse",
    "void": "voidlinux",
}
_FAMILIES = {"windows": "winnt"}  # the words of os_type that are others

_VMWARE_GUEST_ID = re.compile(r"\w+Guest(64)?")
_WINDOWS_SERVER = re.compile(r"20(\d\d) ?(r2)?")
_GENERIC = "http://libosinfo.org/"  # whose systems stand for a family


@dataclasses.dataclass(frozen=True, kw_only=True)
class Match:
    """The operating system that a name stands for."""

    facts: facts.OsFacts
    #: "id", "short-id", "distro-version", "nearest-version",
    #: "unknown-version" or "family"
    how: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is known of the system that is asked for; "" is not known."""

    name: str
    distro: str
    version: str
    family: str

    @classmethod
    def of(
        cls,
        name: str,
        distro: str | None,
        version: str | None,
        family: str | None,
    ) -> "Wanted":
        """Return the words as the database spells them."""
        distro = (distro or "").strip().lower()
        family = (family or "").strip().lower()
        return cls(
            name=name.strip(),
            distro=_DISTROS.get(distro, distro),
            version=(version or "").strip().lower(),
            family=_FAMILIES.get(family, family),
        )


def match(current: snapshot.Snapshot, wanted: Wanted) -> Match | None:
    """Return the system that fits best.

    By URI or short id, by distro and version, by the newest version not above
    the one in the name (or in distro and version), by the distro alone, by
    the family.  A name that is VMware's is none of ours.
    """
    if len(wanted.name) > MAX_LENGTH:
        return None
    if _VMWARE_GUEST_ID.fullmatch(wanted.name):
        return None
    ways = (_by_name, _by_distro, _by_version, _by_word, _by_family)
    found = (way(current, wanted) for way in ways)
    return next((each for each in found if each is not None), None)


def _by_name(current: snapshot.Snapshot, wanted: Wanted) -> Match | None:
    """Find a URI or a short id; the case of letters may be another."""
    name = wanted.name
    if "://" in name:
        uris = dict.fromkeys((name, _uri(name)))
        found = next(filter(None, map(current.find_facts, uris)), None)
        how = "id"
    else:
        found = current.find_short_id(name) or _any_case(current, name)
        how = "short-id"
    if found is None:
        return None
    reason = f"{name} is {found.id} in the database"
    return Match(facts=found, how=how, reason=reason)


def _by_distro(current: snapshot.Snapshot, wanted: Wanted) -> Match | None:
    """Find the very version of a distro."""
    distro, version = wanted.distro, wanted.version
    if not distro or not version:
        return None
    found = _any_case(current, _short_id(distro, version)) or _shortest(
        current,
        (
            entry
            for entry in current.list_entries()
            if (entry.distro, entry.version) == (distro, version)
        ),
    )
    if found is None:
        return None
    reason = f"{_called(found)} is version {version} of the distro {distro}"
    return Match(facts=found, how="distro-version", reason=reason)


def _by_version(current: snapshot.Snapshot, wanted: Wanted) -> Match | None:
    """Find the newest version that is not above the one asked for."""
    name = wanted.name
    if "://" in name:
        found = _nearest(
            listing.key_for(_uri(name)),
            current.list_keys(),
            lambda key: _shortest(current, current.entries(key)),
            name,
        )
    else:
        found = _nearest_short_id(current, name)
    if found is None and wanted.distro and wanted.version:
        short_id = _short_id(wanted.distro, wanted.version)
        found = _nearest_of_distro(current, wanted)
        found = found or _nearest_short_id(current, short_id)
    return found


def _by_word(current: snapshot.Snapshot, wanted: Wanted) -> Match | None:
    """Find what stands for a distro, whatever its version."""
    name = wanted.name.lower()
    for word in filter(None, (_DISTROS.get(name, name), wanted.distro)):
        known = [
            entry for entry in current.list_entries() if entry.distro == word
        ]
        found = known and (
            _any_case(current, f"{word}-unknown") or _newest(current, known)
        )
        if found:
            reason = f"{word} is a distro: {_called(found)} stands for it"
            return Match(facts=found, how="unknown-version", reason=reason)
    return None


def _by_family(current: snapshot.Snapshot, wanted: Wanted) -> Match | None:
    """Find what stands for a family: the generic system, or the newest."""
    family = wanted.family
    known = [
        entry
        for entry in current.list_entries()
        if family and entry.family == family
    ]
    generic = [entry for entry in known if entry.id.startswith(_GENERIC)]
    found = _newest(current, generic or known)
    if found is None:
        return None
    reason = (
        f"nothing is known but the family {family}: {_called(found)} stands "
        "for it"
    )
    return Match(facts=found, how="family", reason=reason)


def _nearest_short_id(
    current: snapshot.Snapshot, short_id: str
) -> Match | None:
    return _nearest(
        short_id.lower(),
        current.short_ids(),
        lambda known: _any_case(current, known),
        short_id,
    )


def _nearest(
    name: str,
    names: Iterable[str],
    find: Callable[[str], facts.OsFacts | None],
    asked: str,
) -> Match | None:
    """Find the nearest of ``names`` that have the stem of ``name``.

    "rhel9-unknown" goes before all versions of 9, and "rhel-unknown" is for
    a version that is older than all.
    """
    parted = versions.split(name)
    if parted is None:
        return None
    stem, version = parted

    def unknown(name: str) -> Match | None:
        found = find(f"{name}-unknown")
        if found is None:
            return None
        reason = (
            f"{asked} is not in the database: {_called(found)} stands for "
            "versions that are not"
        )
        return Match(facts=found, how="unknown-version", reason=reason)

    if found := unknown(name):
        return found
    known = {
        other[1]: each
        for each in names
        if each.startswith(stem)
        and (other := versions.split(each)) is not None
        and other[0] == stem
    }
    while (best := versions.nearest(stem, version, known)) is not None:
        if (facts_ := find(known.pop(best))) is not None:
            return _nearest_match(facts_, asked)
    return unknown(stem.rstrip("-"))


def _nearest_of_distro(
    current: snapshot.Snapshot, wanted: Wanted
) -> Match | None:
    """Find the nearest version of a distro whose names have other stems."""
    version = versions.parse(wanted.version)
    if version is None or wanted.distro == "win":  # those are of the kernel
        return None
    known: dict[versions.Version, list[model.Entry]] = {}
    for entry in current.list_entries():
        if entry.distro == wanted.distro and entry.version:
            other = versions.parse(entry.version)
            if other is not None:
                known.setdefault(other, []).append(entry)
    best = versions.nearest(wanted.distro, version, known)
    found = best and _shortest(current, known[best])
    if not found:
        return None
    return _nearest_match(found, f"{wanted.distro} {wanted.version}")


def _nearest_match(found: facts.OsFacts, asked: str) -> Match:
    reason = (
        f"{asked} is not in the database: {_called(found)} is the newest "
        "version not above it"
    )
    return Match(facts=found, how="nearest-version", reason=reason)


def _shortest(
    current: snapshot.Snapshot, entries: Iterable[model.Entry]
) -> facts.OsFacts | None:
    """Return the plainest of several: editions have longer names."""
    uris = sorted((len(entry.id), entry.id) for entry in entries)
    return current.find_facts(uris[0][1]) if uris else None


def _newest(
    current: snapshot.Snapshot, entries: Iterable[model.Entry]
) -> facts.OsFacts | None:
    def age(entry: model.Entry) -> tuple[str, versions.Version, str]:
        version = versions.parse(entry.version or "") or ()
        return (entry.release_date or "", version, entry.id)

    newest = max(entries, key=age, default=None)
    return None if newest is None else current.find_facts(newest.id)


def _any_case(
    current: snapshot.Snapshot, short_id: str
) -> facts.OsFacts | None:
    return current.find_short_id(short_id, any_case=True)


def _uri(name: str) -> str:
    """Return a URI as the database spells it."""
    scheme, _, rest = name.partition("://")
    scheme = "http" if scheme.lower() in {"http", "https"} else scheme
    return f"{scheme}://{rest.rstrip('/').lower()}"


def _short_id(distro: str, version: str) -> str:
    """Return the short id that a version of a distro would have."""
    server = _WINDOWS_SERVER.fullmatch(version) if distro == "win" else None
    if server is not None:
        year = server[1].lstrip("0")
        return f"win2k{year}{server[2] or ''}"
    return distro + version.replace(" ", "")


def _called(found: facts.OsFacts) -> str:
    return found.short_ids[0] if found.short_ids else found.id
