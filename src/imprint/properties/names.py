"""Which image properties exist, and how Glance spells them.

The names and the values behind them belong to the host.  It describes them
once as a :class:`Vocabulary`; nothing here is a copy of the host's lists.
"""

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Mapping

from imprint import exceptions

#: Properties that Imprint adds to those of the host: the operating system, as
#: the libosinfo database names it; whether virtio drivers are installed in it,
#: a boolean.
OWN_NAMES = frozenset({"hw_virtio_drivers", "os_name"})

#: Names of the first proposal that became another name in Nova.
PROPOSED_NAMES: Mapping[str, str] = {"hw_os_command_line": "os_command_line"}

#: Lists that Glance spells as one property for each NUMA node.
NUMA_FAMILIES = frozenset({"hw_numa_cpus", "hw_numa_mem"})

TRAIT_PREFIX = "trait:"

_NUMA_NAME = re.compile(r"(hw_numa_cpus|hw_numa_mem)\.(0|[1-9][0-9]{0,8})")
_CUSTOM_TRAIT = re.compile(r"CUSTOM_[A-Z0-9_]+")
_SHOWN_LENGTH = 80


@dataclasses.dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The image properties that a host knows."""

    #: names whose value is one string
    fields: frozenset[str]
    #: names which no single string can say, each with what to say instead
    inexpressible: Mapping[str, str]
    #: legacy names, each with its current name
    legacy: Mapping[str, str]
    #: legacy names that some code of the host reads in place of the current
    read_raw: frozenset[str]
    #: traits that need no ``CUSTOM_`` prefix
    traits: frozenset[str]
    #: how many NUMA nodes a server may have
    max_numa_nodes: int
    #: the room that the host has for a name and for a value, in UTF-8
    max_name_bytes: int
    max_value_bytes: int
    #: ``find_fault(name, value)``: what is legal where the value is not
    find_fault: Callable[[str, str], str | None]


def check_name(name: str, vocabulary: Vocabulary) -> None:
    """Accept the name of a property that exists.

    Names which exist but cannot be expressed pass: whether they are forbidden
    comes first, see :func:`check_expressible`.

    :raises InvalidOverrideError: a legacy or unknown name; the text gives the
        current name, or those that come near
    """
    current = PROPOSED_NAMES.get(name) or vocabulary.legacy.get(name)
    if current is not None:
        raise exceptions.InvalidOverrideError(
            f"{show(name)} is not the current name of this image property: "
            f"use {current}"
        )
    if len(name.encode(errors="replace")) > vocabulary.max_name_bytes:
        raise exceptions.InvalidOverrideError(
            f"{show(name)} is not an image property: a name has at most "
            f"{vocabulary.max_name_bytes} bytes"
        )
    if name in vocabulary.fields or name in vocabulary.inexpressible:
        return
    if name.startswith(TRAIT_PREFIX):
        _check_trait(name, vocabulary)
    elif (node := numa_node(name)) is None:
        raise exceptions.InvalidOverrideError(
            f"{show(name)} is not an image property"
            + _near(name, vocabulary.fields)
        )
    elif node[1] >= vocabulary.max_numa_nodes:
        raise exceptions.InvalidOverrideError(
            f"{show(name)} is not an image property: NUMA nodes are counted "
            f"from 0 to {vocabulary.max_numa_nodes - 1}"
        )


def check_expressible(name: str, vocabulary: Vocabulary) -> None:
    """Accept a name that has one string as its value.

    :raises InvalidOverrideError: the text says what to use instead
    """
    instead = vocabulary.inexpressible.get(name)
    if instead is not None:
        raise exceptions.InvalidOverrideError(
            f"{name} cannot be overridden, no single string says it: {instead}"
        )


def numa_node(name: str) -> tuple[str, int] | None:
    """Split ``hw_numa_cpus.3`` into its family and node, if it is one."""
    match = _NUMA_NAME.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def show(text: str) -> str:
    """Return a user's text fit for an error: printable, not too long."""
    shown = text[:_SHOWN_LENGTH]
    if not shown.isprintable():
        shown = ascii(shown)[1:-1]
    return f"'{shown}…'" if len(text) > _SHOWN_LENGTH else f"'{shown}'"


def _check_trait(name: str, vocabulary: Vocabulary) -> None:
    trait = name.removeprefix(TRAIT_PREFIX)
    if trait in vocabulary.traits or _CUSTOM_TRAIT.fullmatch(trait):
        return
    raise exceptions.InvalidOverrideError(
        f"{show(trait)} is not a trait: it must be a standard one or "
        f"CUSTOM_ with capitals, digits and underscores"
        + _near(trait, vocabulary.traits)
    )


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
