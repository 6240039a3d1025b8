"""What vSphere calls an operating system.

For those who run Nova's VMware driver, which takes the identifier of the
guest operating system from the image property ``os_distro`` and knows nothing
of ``os_name``.  The table is in ``vmware.toml``, in vSphere's words.  Nothing
here asks a vSphere or changes an image.
"""

import dataclasses
import fnmatch
import importlib.resources
import re
import tomllib

from imprint.hardware import choices, facts

ARCHITECTURES = ("x86_64", "i686")
TABLE = "vmware.toml"

_NUMBER = re.compile(r"[0-9]+")
#: of a version that has no number, such as "testing"
_NEWEST = (2**31,)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the table; a condition that is None always holds."""

    number: int  # counted from 1
    ids: dict[str, str]  # by architecture
    usual: str  # the architecture that is meant where nobody says
    short_id: tuple[str, ...] | None = None
    distro: tuple[str, ...] | None = None
    family: tuple[str, ...] | None = None
    since: tuple[int, ...] | None = None
    released: str | None = None

    def fits(self, os: facts.OsFacts) -> bool:
        """Tell whether every condition of the row holds."""
        return (
            (
                self.short_id is None
                or any(
                    fnmatch.fnmatchcase(short, pattern)
                    for short in os.short_ids
                    for pattern in self.short_id
                )
            )
            and (self.distro is None or os.distro in self.distro)
            and (self.family is None or os.family in self.family)
            and (self.since is None or _order(os.version) >= self.since)
            and (
                self.released is None
                or (os.release_date or "") >= self.released
            )
        )


def load() -> tuple[Row, ...]:
    """Read the table of the package."""
    files = importlib.resources.files("imprint.hardware")
    return parse(files.joinpath(TABLE).read_text())


def parse(text: str) -> tuple[Row, ...]:
    """Parse a table, in TOML; its form is described at its top."""
    return tuple(
        _build_row(number, raw)
        for number, raw in enumerate(tomllib.loads(text)["guest"], 1)
    )


def choose_guest_id(
    os: facts.OsFacts, rows: tuple[Row, ...], arch: str | None = None
) -> choices.Choice:
    """Choose the guest id of ``os``, and say by which row.

    ``arch`` is one of ``ARCHITECTURES``; None is the one that the operating
    system usually has on vSphere.  The last row takes every system.
    """
    row = next(
        row for row in rows if row.fits(os) and (arch or row.usual) in row.ids
    )
    value = row.ids[arch or row.usual]
    return choices.Choice(
        value=value, reason=f"row {row.number} of {TABLE}: {_describe(row)}"
    )


def _build_row(number: int, raw: dict[str, object]) -> Row:
    everywhere = raw.pop("any", None)
    ids = {
        arch: str(raw.pop(arch, everywhere))
        for arch in ARCHITECTURES
        if raw.get(arch, everywhere) is not None
    }
    since = raw.pop("from", None)
    conditions = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in raw.items()
    }
    return Row(
        **{"usual": ARCHITECTURES[0], **conditions},  # type: ignore[arg-type]
        number=number,
        ids=ids,
        since=None if since is None else _order(str(since)),
    )


def _order(version: str | None) -> tuple[int, ...]:
    """Return a version as it is compared."""
    numbers = tuple(int(one) for one in _NUMBER.findall(version or ""))
    return numbers or _NEWEST


def _describe(row: Row) -> str:
    said = [
        f"{name} {' or '.join(value)}"
        for name, value in (
            ("short id", row.short_id),
            ("distro", row.distro),
            ("family", row.family),
        )
        if value
    ]
    if row.since:
        said.append(f"version {'.'.join(map(str, row.since))} or later")
    if row.released:
        said.append(f"released {row.released} or later")
    return ", ".join(said) or "no other row fits"
