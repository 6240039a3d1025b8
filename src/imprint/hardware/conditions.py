"""When a rule holds: conditions on the system, the host and the image.

A list means one of these, except that a guest lacks all that ``lacks``
lists.  Names may be patterns of the shell.
"""

import dataclasses
import fnmatch
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from imprint.hardware.facts import HostFacts, OsFacts

_VERSION = re.compile(r"\d+(?:\.\d+)*")
_COMPARISON = re.compile(r"(\D+?)\s*(\d[\d.]*)")
_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
# The words that oslo.utils takes for booleans, as Nova does in images.
_TRUE = frozenset(("1", "t", "true", "on", "y", "yes"))
_FALSE = frozenset(("0", "f", "false", "off", "n", "no"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guest:
    """All that a condition may look at."""

    os: OsFacts
    host: HostFacts
    #: the machine type that the guest has
    machine_type: str
    #: the image properties that were declared
    properties: Mapping[str, str]


def get_machine_kind(machine_type: str) -> str:
    """Return "q35" or "pc" for any version of them, others as they are."""
    if "q35" in machine_type:
        return "q35"
    if machine_type == "pc" or machine_type.startswith("pc-"):
        return "pc"
    return machine_type


def is_machine(machine_type: str, patterns: Iterable[str]) -> bool:
    """Tell whether a machine type or its kind is one of these."""
    kind = get_machine_kind(machine_type)
    return _is_one_of((machine_type, kind), list(patterns))


def find_device(os: OsFacts, patterns: Iterable[str]) -> str | None:
    """Find the first supported device that a pattern names."""
    for pattern in patterns:
        if pattern in os.devices:
            return pattern
        for name in sorted(os.devices):
            if fnmatch.fnmatchcase(name, pattern):
                return name
    return None


def hold(conditions: Mapping[str, Any], guest: Guest) -> bool:
    """Tell whether every condition of a rule's ``match`` table holds."""
    return all(
        _CHECKS[name](wanted, guest) for name, wanted in conditions.items()
    )


def list_names(value: str | list[str]) -> list[str]:
    """Return one name or several as a list."""
    return [value] if isinstance(value, str) else value


def _is_one_of(found: Collection[str | None], wanted: Any) -> bool:
    return any(
        name is not None and fnmatch.fnmatchcase(name, pattern)
        for name in found
        for pattern in list_names(wanted)
    )


def _compare_version(wanted: str, guest: Guest) -> bool:
    """Compare numerically; a version without a number never holds."""
    match = _VERSION.match(guest.os.version or "")
    if match is None:
        return False
    for sign, number in _COMPARISON.findall(wanted):
        theirs, ours = _pad(match.group(), number)
        if not _OPERATORS[sign.strip(" ,\t")](theirs, ours):
            return False
    return True


def _pad(*versions: str) -> list[list[int]]:
    """Return versions as numbers of the same length: 6 is 6.0."""
    split = [
        [int(part) for part in version.split(".")] for version in versions
    ]
    length = max(map(len, split))
    return [numbers + [0] * (length - len(numbers)) for numbers in split]


def _has_properties(wanted: Mapping[str, Any], guest: Guest) -> bool:
    return all(
        name in guest.properties and _is_value(guest.properties[name], value)
        for name, value in wanted.items()
    )


def _is_value(declared: str, wanted: bool | str | list[str]) -> bool:
    if isinstance(wanted, bool):
        return declared.strip().lower() in (_TRUE if wanted else _FALSE)
    return _is_one_of((declared,), wanted)


_CHECKS: Mapping[str, Callable[[Any, Guest], bool]] = {
    "arch": lambda wanted, guest: _is_one_of((guest.host.arch,), wanted),
    "distro": lambda wanted, guest: _is_one_of((guest.os.distro,), wanted),
    "family": lambda wanted, guest: _is_one_of((guest.os.family,), wanted),
    "has": lambda wanted, guest: (
        find_device(guest.os, list_names(wanted)) is not None
    ),
    "id": lambda wanted, guest: _is_one_of((guest.os.id,), wanted),
    "image": _has_properties,
    "lacks": lambda wanted, guest: (
        find_device(guest.os, list_names(wanted)) is None
    ),
    "machine_type": lambda wanted, guest: is_machine(
        guest.machine_type, list_names(wanted)
    ),
    "removed": lambda wanted, guest: _is_one_of(guest.os.removed, wanted),
    # who has no date was released neither before nor after
    "released_after": lambda wanted, guest: (
        guest.os.release_date is not None and guest.os.release_date > wanted
    ),
    "released_before": lambda wanted, guest: (
        guest.os.release_date is not None and guest.os.release_date < wanted
    ),
    "short_id": lambda wanted, guest: _is_one_of(guest.os.short_ids, wanted),
    "version": _compare_version,
    "virt_type": lambda wanted, guest: _is_one_of(
        (guest.host.virt_type,), wanted
    ),
}
