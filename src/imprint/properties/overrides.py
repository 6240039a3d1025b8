"""What a user asked for: parsed, permitted and checked.

Overrides come from anyone who may create a server.  Whatever JSON value
arrives here, the outcome is either checked overrides or one of our errors.

The order is part of the contract.  Shape and names come first and tell only
what the documentation tells.  Then the operator's lists, so that a forbidden
property is refused for any value.  Values come last.
"""

import contextlib
import dataclasses
import fnmatch
import functools
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

from imprint import exceptions
from imprint.properties import names

FIELD = "image_props_override"

# The last character that three bytes of UTF-8 hold.  Nova makes its MySQL
# tables with ``utf8``, which stores no more.
_LAST_STORED = "\uffff"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Permissions:
    """What the operator lets users override; patterns are the shell's."""

    enabled: bool
    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    max_overrides: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spelling:
    """How a request spells its overrides, for the texts of errors."""

    #: of all of them
    field: str
    #: in front of a property's name, where each one is a field of its own
    prefix: str = ""

    @contextlib.contextmanager
    def about(self, name: str) -> Iterator[None]:
        """Raise an error about a property with the field in front."""
        try:
            yield
        except exceptions.ImprintError as exc:
            if not self.prefix:
                raise
            raise type(exc)(
                f"{names.show(self.prefix + name)[1:-1]}: {exc}"
            ) from exc


NATIVE = Spelling(field=FIELD)


def parse(
    asked: Any,
    *,
    permissions: Permissions,
    vocabulary: names.Vocabulary,
    spelling: Spelling = NATIVE,
    kept: Mapping[str, str] = types.MappingProxyType({}),
) -> dict[str, str]:
    """Return the overrides in ``asked``, any value that JSON can hold.

    ``kept`` are those that the server has: whether they are permitted was
    asked when it got them.

    :raises InvalidOverrideError: not an object of strings, too many, an
        unknown or legacy name, a value that is not legal
    :raises ForbiddenOverrideError: overrides are switched off, or the operator
        keeps this property from users
    """
    check_enabled(permissions)
    if not isinstance(asked, dict):
        raise exceptions.InvalidOverrideError(
            f"{spelling.field} must be an object of image properties, "
            f"not {_describe(asked)}"
        )
    if len(asked) > permissions.max_overrides:
        raise exceptions.InvalidOverrideError(
            f"{spelling.field} has {len(asked)} properties, at most "
            f"{permissions.max_overrides} are allowed"
        )
    for name in asked:
        _check_string(name, spelling)
        with spelling.about(name):
            names.check_name(name, vocabulary)
    for name, value in asked.items():
        if name in kept and kept[name] == value:
            continue
        with spelling.about(name):
            _check_permitted(name, permissions)
    for name, value in asked.items():
        with spelling.about(name):
            names.check_expressible(name, vocabulary)
            check_value(name, value, vocabulary)
    _check_numa_nodes(asked, spelling)
    return dict(asked)


def check_enabled(permissions: Permissions) -> None:
    """Accept overrides as such.

    :raises ForbiddenOverrideError: they are switched off
    """
    if not permissions.enabled:
        raise exceptions.ForbiddenOverrideError(
            f"{FIELD}: image property overrides are switched off here"
        )


def is_permitted(name: str, permissions: Permissions) -> bool:
    """Tell whether the operator's two lists let users override this."""
    return matches(name, permissions.allowed) and not matches(
        name, permissions.denied
    )


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether one of some shell patterns matches, with case."""
    return _compile(patterns).fullmatch(name) is not None


def check_value(name: str, value: Any, vocabulary: names.Vocabulary) -> None:
    """Accept a value that the property can have.

    :raises InvalidOverrideError: the text names the property, the value and
        what is legal
    """
    if not isinstance(value, str):
        raise exceptions.InvalidOverrideError(
            f"{name} must be a string, not {_describe(value)}"
        )
    # The libvirt domain is XML, which cannot hold control characters; the
    # other unprintable ones only mislead whoever reads them.
    if not value.isprintable() or max(value, default="") > _LAST_STORED:
        raise exceptions.InvalidOverrideError(
            f"{name} has the value {names.show(value)}, which has a character "
            f"that is not printable or lies beyond U+FFFF"
        )
    if len(value.encode()) > vocabulary.max_value_bytes:
        raise exceptions.InvalidOverrideError(
            f"{name} has a value of {len(value.encode())} bytes, at most "
            f"{vocabulary.max_value_bytes} are allowed"
        )
    if name.startswith(names.TRAIT_PREFIX):
        legal = None if value == "required" else "only 'required' is allowed"
    else:
        legal = vocabulary.find_fault(name, value)
    if legal is not None:
        raise exceptions.InvalidOverrideError(
            f"{name} cannot have the value {names.show(value)}: {legal}"
        )


def _check_string(name: Any, spelling: Spelling) -> None:
    # no JSON gives another key, other callers may
    if not isinstance(name, str):
        raise exceptions.InvalidOverrideError(
            f"the names in {spelling.field} must be strings, "
            f"not {_describe(name)}"
        )


def _check_permitted(name: str, permissions: Permissions) -> None:
    if not is_permitted(name, permissions):
        raise exceptions.ForbiddenOverrideError(
            f"The image property {name} may not be overridden"
        )


@functools.lru_cache(maxsize=8)
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # one expression: a request has up to 64 names, the default denies 26
    # patterns, and the lists change only with the configuration
    if not patterns:
        return re.compile(r"(?!)")
    return re.compile("|".join(map(fnmatch.translate, patterns)))


def _check_numa_nodes(
    overrides: Mapping[str, str], spelling: Spelling
) -> None:
    # The host stops at the first node that is not there: others would be
    # dropped in silence.
    nodes: dict[str, set[int]] = {}
    for name in overrides:
        if (node := names.numa_node(name)) is not None:
            nodes.setdefault(node[0], set()).add(node[1])
    for family, present in nodes.items():
        if missing := set(range(max(present))) - present:
            name = f"{family}.{max(present)}"
            with spelling.about(name):
                raise exceptions.InvalidOverrideError(
                    f"{name} needs {family}.{min(missing)}: "
                    f"NUMA nodes are counted from 0 without gaps"
                )


def _describe(value: Any) -> str:
    # never the value itself: it may be as long and as deep as JSON allows
    kinds = {
        bool: "a boolean",
        dict: "an object",
        float: "a number",
        int: "a number",
        list: "a list",
        str: "a string",
        type(None): "null",
    }
    return kinds.get(type(value), type(value).__name__)
