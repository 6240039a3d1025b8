"""Finds the overrides in the body of POST /servers, in each spelling.

Clients that nobody changes cannot send ``server.image_props_override``.  All
of them can send scheduler hints, which Nova takes with any key and any value,
under one of two keys of the body.  Overrides must be out of there before Nova
builds its request specification: an object makes it fail, and a string would
be stored and shown as a hint for the life of the server.

Knows neither callers nor policy: what is found is untrusted, and
:mod:`imprint.properties.overrides` checks it.
"""

import dataclasses
import json
from typing import Any

from imprint import exceptions
from imprint.properties import names
from imprint.properties.overrides import FIELD, NATIVE, Spelling

#: The keys of a body under which Nova looks for hints, in its order.  It
#: takes the first of them that is there and ignores the other.
KEYS = ("os:scheduler_hints", "OS-SCH-HNT:scheduler_hints")

#: In front of the name of a property: one hint for each override.
PREFIX = "imprint:"

_OBJECT = Spelling(field=f"scheduler hint {FIELD}")
_FLAT = Spelling(
    field=f"scheduler hints {PREFIX}NAME", prefix=f"scheduler hint {PREFIX}"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """Overrides as a body has them: any value, in one spelling or more."""

    #: each spelling that the body uses, with its value
    found: tuple[tuple[Spelling, Any], ...]
    #: the keys of the body that hold hints, with overrides or without
    keys: tuple[str, ...]

    def check_hints(self, *, accepted: bool) -> None:
        """Accept hints as carriers where the operator does.

        :raises ForbiddenOverrideError: there are some, and they are not
            accepted
        """
        for spelling, value in self.found:
            if spelling is not NATIVE and not accepted:
                name = FIELD if spelling is _OBJECT else PREFIX + min(value)
                raise exceptions.ForbiddenOverrideError(
                    f"scheduler hint {names.show(name)}: overrides in "
                    f"scheduler hints are switched off here, "
                    f"{FIELD} of the server is to be used"
                )

    def read(self) -> tuple[Any, Spelling]:
        """Return the value of the only spelling, and which one it is.

        :raises InvalidOverrideError: more than one spelling, or a hint that
            has a type of its own
        """
        if len(self.found) > 1:
            first, second = (spelling.field for spelling, _ in self.found[:2])
            if first == second:
                first, second = self.keys
            raise exceptions.InvalidOverrideError(
                f"overrides are given as {first} and as {second}: "
                f"one of them is allowed"
            )
        ((spelling, value),) = self.found
        if spelling is not NATIVE and len(self.keys) > 1:
            raise exceptions.InvalidOverrideError(
                f"{spelling.field}: the request has {' and '.join(self.keys)},"
                f" of which one is read; overrides need one alone"
            )
        if spelling is _OBJECT and isinstance(value, str):
            value = _load(value)
        if spelling is _FLAT:
            value = {name: _unpack(name, hint) for name, hint in value.items()}
        return value, spelling


def take(body: Any) -> Asked | None:
    """Take the overrides out of the body of a create request.

    ``body`` is whatever JSON holds; it is changed in place, so that Nova
    finds its own keys only.  Other hints stay.  None: it has no overrides.
    """
    if not isinstance(body, dict):
        return None
    found: list[tuple[Spelling, Any]] = []
    server = body.get("server")
    if isinstance(server, dict) and FIELD in server:
        found.append((NATIVE, server.pop(FIELD)))
    for key in KEYS:
        hints = body.get(key)
        if not isinstance(hints, dict):
            continue
        if FIELD in hints:
            found.append((_OBJECT, hints.pop(FIELD)))
        flat = {
            name.removeprefix(PREFIX): hints.pop(name)
            for name in list(hints)
            if name.startswith(PREFIX)
        }
        if flat:
            found.append((_FLAT, flat))
    if not found:
        return None
    return Asked(
        found=tuple(found), keys=tuple(key for key in KEYS if key in body)
    )


def _load(text: str) -> Any:
    """Read the JSON in a hint that is a string.

    The keys of an object must be unique: which of two would count is not for
    the parser to say.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_build, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        # no text of the parser's own: it quotes what it was given
        raise exceptions.InvalidOverrideError(
            f"{_OBJECT.field} has the value {names.show(text)}: an object or "
            f"the JSON text of one is allowed"
        ) from None


def _build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built: dict[str, Any] = {}
    for name, value in pairs:
        if name in built:
            raise exceptions.InvalidOverrideError(
                f"{_OBJECT.field} has {names.show(name)} twice"
            )
        built[name] = value
    return built


def _refuse_constant(name: str) -> Any:
    # NaN and Infinity, which Python reads and JSON does not have
    raise ValueError(name)


def _unpack(name: str, hint: Any) -> Any:
    """Return the value of a flat hint, which some clients put into a list."""
    if not isinstance(hint, list):
        return hint
    if len(hint) != 1:
        raise exceptions.InvalidOverrideError(
            f"scheduler hint {names.show(PREFIX + name)} has {len(hint)} "
            f"values, one is allowed"
        )
    return hint[0]
