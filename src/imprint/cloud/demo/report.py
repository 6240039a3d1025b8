"""Lays the demo's table out, as wide as a terminal is.

Pure: text in, text out.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WIDTH = 99
_COLUMNS = (16, 34, 25, 18)
_GAP = "  "
HEAD = ("SERVER", "OVERRIDE", "THE GUEST SAW", "LIBVIRT HAS")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: a list of lines for each column.

    One with fewer columns lets its last reach to the end.
    """

    cells: Sequence[Sequence[str]]


def build_table(rows: Iterable[Row]) -> str:
    """Build the table; each row is as high as its highest cell."""
    lines = ["─" * WIDTH]
    for row in (Row(cells=[[name] for name in HEAD]), *rows):
        lines += [*_lay_out(row), "─" * WIDTH]
    return "\n".join(lines)


def wrap(text: str, width: int = WIDTH) -> list[str]:
    """Break a text into lines; what has no spaces breaks anywhere."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


def _lay_out(row: Row) -> Iterator[str]:
    widths = list(_COLUMNS[: len(row.cells)])
    widths[-1] = WIDTH - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1)
    columns = [
        [line for text in cell for line in wrap(text, width)]
        for cell, width in zip(row.cells, widths, strict=True)
    ]
    for line in zip_longest(*columns, fillvalue=""):
        cells = zip(line, widths, strict=True)
        yield _GAP.join(f"{text:<{width}}" for text, width in cells).rstrip()
