"""Versions in the names of operating systems, and which is nearest.

Pure.  A name is a stem and a version: "ubuntu" and 22.04, "win2k" and 19,
"sles" and 12sp5, and a URI's or a path's end likewise.
"""

import re
from collections.abc import Iterable

Version = tuple[int, ...]

# no longer, so that int() takes it: a date with its time has 14 digits
_NUMBER = r"\d{1,18}"
_DOTTED = rf"{_NUMBER}(?:\.{_NUMBER})*"
_NAME = re.compile(
    rf"(?P<stem>.*?[^0-9.])(?P<numbers>{_DOTTED})(?:sp(?P<pack>{_NUMBER}))?"
)
_NUMBERS = re.compile(rf"({_DOTTED})(?: ?sp({_NUMBER}))?")

# Numbers above these were given before the smaller ones: Windows 95 and 98,
# openSUSE 42. They are compared with nothing but each other.
_APART = {"win": 94, "opensuse": 41}


def split(name: str) -> tuple[str, Version] | None:
    """Return the stem of ``name`` and its version; None: it has none.

    A service pack counts as a minor version: sles12sp5 is version 12.5.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return match["stem"], _version(match["numbers"], match["pack"])


def parse(text: str) -> Version | None:
    """Return a version that stands alone, such as "22.04" or "15 sp4"."""
    match = _NUMBERS.fullmatch(text.strip().lower())
    return None if match is None else _version(*match.groups())


def nearest(
    stem: str, version: Version, known: Iterable[Version]
) -> Version | None:
    """Return the newest of ``known`` that is not above ``version``.

    A version stands for all that begin with it: 9 is not older than 9.0, and
    the newest 9.x is its answer.
    """
    comparable = [
        each for each in known if _epoch(stem, each) == _epoch(stem, version)
    ]
    series = [each for each in comparable if each[: len(version)] == version]
    older = [each for each in comparable if each < version]
    return max(series or older, default=None)


def _version(numbers: str, pack: str | None) -> Version:
    parts = [int(part) for part in numbers.split(".")]
    return (*parts, int(pack)) if pack else tuple(parts)


def _epoch(stem: str, version: Version) -> int:
    """Return the major version where it is counted apart, or zero."""
    limit = _APART.get(stem.rpartition("/")[2].rstrip("-"))
    return version[0] if limit is not None and version[0] > limit else 0
