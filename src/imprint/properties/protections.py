"""Glance's property protections, read for overrides.

An operator who protects image properties in Glance protects them from
overrides with the same file.  Its meaning is Glance's ("Property protections"
in Glance's administration guide, and ``glance.common.property_utils``): each
section is a regular expression, searched for in a property's name; the first
section that matches decides; a property that none matches is for nobody.

Where Glance would not start, for a file with an error, everything is refused
here.  Knows no caller: who holds a role or satisfies a rule is asked.
"""

import configparser
import dataclasses
import enum
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from imprint import exceptions


class Operation(enum.Enum):
    """What somebody does to a property; the keys of a section."""

    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    DELETE = "delete"


class RuleFormat(enum.Enum):
    """What the values in a file are."""

    ROLES = "roles"
    POLICIES = "policies"


EVERYBODY = "@"
NOBODY = "!"

#: Glance keeps these names for itself and ignores what a file says of them.
_RESERVED = "os_glance"


class ProtectionFileError(exceptions.ImprintError):
    """A file that Glance would not start with; the text is the operator's."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Protections:
    """The sections of a file, in their order."""

    rule_format: RuleFormat
    sections: tuple[
        tuple[re.Pattern[str], Mapping[Operation, frozenset[str]]], ...
    ]

    def list_named(self) -> frozenset[str]:
        """List every role or rule that the file names."""
        named = {
            holder
            for _, holders in self.sections
            for listed in holders.values()
            for holder in listed
        }
        return frozenset(named - {EVERYBODY, NOBODY})

    def list_holders(self, name: str, operation: Operation) -> frozenset[str]:
        """List who may do this to a property: roles, or names of rules."""
        for pattern, holders in self.sections:
            if pattern.search(name):
                return holders[operation]
        return frozenset()

    def is_permitted(
        self,
        name: str,
        operation: Operation,
        is_held: Callable[[str], bool],
    ) -> bool:
        """Tell whether a caller may do this to a property.

        ``is_held`` tells whether the caller has a role, given in lower case,
        or satisfies the rule of that name.
        """
        holders = self.list_holders(name, operation)
        if NOBODY in holders:
            return False
        return EVERYBODY in holders or any(map(is_held, sorted(holders)))


def parse(text: str, rule_format: RuleFormat) -> Protections:
    """Read the text of a file.

    :raises ProtectionFileError: naming the section and what is wrong
    """
    # as Glance: with DEFAULT and interpolation
    parser = configparser.ConfigParser()
    try:
        parser.read_string(text)
    except configparser.Error as exc:
        # its text quotes the file
        raise ProtectionFileError(
            f"not in the format of a configuration file ({type(exc).__name__})"
        ) from exc
    return Protections(
        rule_format=rule_format,
        sections=tuple(
            (_compile(section), _read(parser[section], rule_format))
            for section in parser.sections()
            if not section.startswith(_RESERVED)
        ),
    )


def find_needed(
    said: Mapping[str, Any],
    merged: Mapping[str, Any],
    replaced: Collection[str],
) -> dict[str, tuple[Operation, ...]]:
    """Find what merging overrides does to the properties of an image.

    ``said`` are the image's own, ``merged`` those with the overrides,
    ``replaced`` the names of :func:`imprint.properties.merge.find_replaced`.
    """
    needed: dict[str, tuple[Operation, ...]] = {}
    for name in sorted(merged.keys() - said.keys()):
        needed[name] = (Operation.CREATE,)
    for name in sorted(replaced):
        # Who may not read a property may not update or delete it, says
        # Glance's guide.
        needed[name] = (Operation.READ, Operation.UPDATE)
        if name not in merged:
            needed[name] += (Operation.DELETE,)
    return needed


def _compile(section: str) -> re.Pattern[str]:
    try:
        return re.compile(section)
    except re.error as exc:
        raise ProtectionFileError(
            f"[{section}] is no regular expression"
        ) from exc


def _read(
    section: configparser.SectionProxy, rule_format: RuleFormat
) -> dict[Operation, frozenset[str]]:
    holders = {}
    for operation in Operation:
        try:
            value = section[operation.value]
        except KeyError:
            raise ProtectionFileError(
                f"[{section.name}] has no {operation.value}"
            ) from None
        except configparser.InterpolationError as exc:
            raise ProtectionFileError(
                f"[{section.name}] {operation.value} cannot be expanded"
            ) from exc
        holders[operation] = _split(
            value, rule_format, f"[{section.name}] {operation.value}"
        )
    return holders


def _split(value: str, rule_format: RuleFormat, where: str) -> frozenset[str]:
    listed = frozenset(holder.strip() for holder in value.split(","))
    if rule_format is RuleFormat.POLICIES and "," in value:
        raise ProtectionFileError(f"{where} names more than one rule")
    if {EVERYBODY, NOBODY} <= listed:
        raise ProtectionFileError(f"{where} has both @ and !")
    if rule_format is RuleFormat.ROLES:
        # Keystone's role names have no case
        listed = frozenset(map(str.lower, listed))
    return listed - {""}
