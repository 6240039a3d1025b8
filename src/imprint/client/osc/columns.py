"""How overrides, properties and previews look in a table.

Every other format gets the values as they are.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from cliff import columns
from osc_lib.cli import format_columns

from imprint.client import sdk
from imprint.client.overrides import FIELD

Shown = tuple[Sequence[str], Iterable[Any]]  # columns and their values


def overrides(shown: Shown) -> Shown:
    """Show overrides the way the commands show other mappings."""
    names, values = shown
    return names, tuple(
        format_columns.DictColumn(value)
        if name == FIELD and isinstance(value, dict)
        else value
        for name, value in zip(names, values, strict=True)
    )


def preview(found: sdk.Preview) -> Shown:
    """Show a preview as one record, with the names of the API."""
    named = {
        "image_properties": PropertiesColumn(
            {
                name: {
                    key: value
                    for key, value in dataclasses.asdict(one).items()
                    if value is not None
                }
                for name, one in sorted(found.image_properties.items())
            }
        ),
        "refused": RefusedColumn(
            [dataclasses.asdict(refusal) for refusal in found.refused]
        ),
        "verdict": VerdictColumn(dataclasses.asdict(found.verdict)),
    }
    return tuple(named), tuple(named.values())


def reasons(found: sdk.Preview) -> list[str]:
    """Return why the server would be refused; the first is the server's."""
    told = [] if found.verdict.accepted else [_says(found.verdict)]
    return told + [_refuses(refusal) for refusal in found.refused]


class SaidColumn(columns.FormattableColumn[str | None]):
    """A value that may be missing: an empty cell, not the word None."""

    def human_readable(self) -> str:
        """Return the value, or nothing."""
        return self._value or ""


class PropertiesColumn(columns.FormattableColumn[dict[str, dict[str, str]]]):
    """Properties with their origins, a line each."""

    def human_readable(self) -> str:
        """Return lines like ``hw_disk_bus='ide' (image)``."""
        return "\n".join(
            f"{name}={found['value']!r} ({found['origin']}"
            + (f"; image: {found['image']!r})" if "image" in found else ")")
            for name, found in self._value.items()
        )


class RefusedColumn(columns.FormattableColumn[list[dict[str, Any]]]):
    """Overrides that would be refused, a line each."""

    def human_readable(self) -> str:
        """Return lines like ``img_signature: … (HTTP 403)``."""
        return "\n".join(
            _refuses(sdk.Refusal(**refusal)) for refusal in self._value
        )


class VerdictColumn(columns.FormattableColumn[dict[str, Any]]):
    """What the server would answer."""

    def human_readable(self) -> str:
        """Return ``accepted`` or the words of the refusal."""
        return _says(sdk.Verdict(**self._value))


def _refuses(refusal: sdk.Refusal) -> str:
    return (
        f"{refusal.property}: {_line(refusal.message)} (HTTP {refusal.code})"
    )


def _says(verdict: sdk.Verdict) -> str:
    words = "accepted" if verdict.accepted else _line(verdict.message)
    return f"{words} (HTTP {verdict.code})"


def _line(message: str) -> str:
    return " ".join(message.splitlines())
