"""Lays the demo's table out, as wide as a terminal is.

Pure: text in, text out.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

WIDTH = 99
_GAP = "  "


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The columns of a table: head and width of each."""

    columns: Mapping[str, int]


PROPERTIES = Layout(
    columns={
        "SERVER": 16,
        "OVERRIDE": 34,
        "THE GUEST SAW": 25,
        "LIBVIRT HAS": 18,
    }
)
SYSTEMS = Layout(
    columns={
        "SERVER, OVERRIDE": 19,
        "THE GUEST SAW": 24,
        "LIBVIRT HAS": 15,
        "WHY": 35,
    }
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: a list of lines for each column.

    One with fewer columns lets its last reach to the end.
    """

    cells: Sequence[Sequence[str]]


def build_table(rows: Iterable[Row], layout: Layout = PROPERTIES) -> str:
    """Build the table; each row is as high as its highest cell."""
    lines = ["─" * WIDTH]
    widths = [*layout.columns.values()]
    for row in (Row(cells=[[name] for name in layout.columns]), *rows):
        lines += [*_lay_out(row, widths), "─" * WIDTH]
    return "\n".join(lines)


def wrap(text: str, width: int = WIDTH) -> list[str]:
    """Break a text into lines; what has no spaces breaks anywhere."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


def _lay_out(row: Row, columns: Sequence[int]) -> Iterator[str]:
    widths = list(columns[: len(row.cells)])
    widths[-1] = WIDTH - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)
    cells = [
        [line for text in cell for line in wrap(text, width)]
        for cell, width in zip(row.cells, widths, strict=True)
    ]
    for line in zip_longest(*cells, fillvalue=""):
        parts = zip(line, widths, strict=True)
        yield _GAP.join(f"{text:<{width}}" for text, width in parts).rstrip()
