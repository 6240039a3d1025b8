"""The table of image properties, as the API itself judges them.

Every cell comes from the code that checks a request: the names, what it says
is legal where a value is not, and the default of the deny list.
"""

from fnmatch import fnmatchcase

from docutils import nodes
from docutils.parsers.rst import Directive
from nova import objects
from sphinx.application import Sphinx

from imprint import conf

# A value that only a property of free text takes.
NO_VALUE = "-no-such-value-"
HEAD = ("Name", "Legal values", "Default")
WIDTHS = (30, 56, 14)


class PropertyTable(Directive):
    """One row for each property that an override may name."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        objects.register_all()
        # Nova's objects must be registered first.
        from imprint.nova.image_properties import (  # noqa: PLC0415
            vocabulary,
        )

        known = vocabulary()
        families = [f"{name}.N" for name in ("hw_numa_cpus", "hw_numa_mem")]
        rows = []
        for name in sorted([*known.fields, *families]):
            legal = known.find_fault(name.replace(".N", ".0"), NO_VALUE)
            denied = any(fnmatchcase(name, p) for p in conf.DENIED)
            rows.append(
                (
                    nodes.literal(text=name),
                    nodes.Text(_legal(legal)),
                    nodes.Text("denied" if denied else "allowed"),
                )
            )
        return [_table(rows)]


def _legal(fault: str | None) -> str:
    if fault is None:
        return "any text"
    return fault.replace(" is allowed", "").removeprefix("one of ")


def _table(rows: list[tuple[nodes.Node, ...]]) -> nodes.table:
    group = nodes.tgroup(cols=len(WIDTHS))
    group += [nodes.colspec(colwidth=width) for width in WIDTHS]
    head = nodes.thead()
    head += _row([nodes.Text(text) for text in HEAD])
    body = nodes.tbody()
    body += [_row(row) for row in rows]
    group += [head, body]
    table = nodes.table(classes=["colwidths-given"])
    table += group
    return table


def _row(cells: list[nodes.Node] | tuple[nodes.Node, ...]) -> nodes.row:
    row = nodes.row()
    row += [nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells]
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("image-properties", PropertyTable)
    return {"parallel_read_safe": True}
