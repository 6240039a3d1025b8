"""Writes and edits configuration of the oslo and paste kind.

Knows the format only.
"""

from __future__ import annotations

import configparser
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Value = str | int | float | bool | Sequence[str]
Section = Mapping[str, Value]
Sections = Mapping[str, Section]


def render(sections: Sections) -> str:
    """Render sections of options as oslo.config reads them.

    A sequence becomes a comma separated list, a `$` stays one: oslo.config
    would take it for the name of another option.
    """
    parser = _parser()
    for name, options in sections.items():
        # configparser calls DEFAULT no section, but writes it as one.
        if name != parser.default_section:
            parser.add_section(name)
        for option, value in options.items():
            parser.set(name, option, _render_value(value))
    return _dump(parser)


def _render_value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = value
    elif isinstance(value, Sequence):
        text = ",".join(value)
    else:
        text = str(value)
    if "\n" in text:
        raise ValueError(f"a value of one line is needed, not {text!r}")
    return text.replace("$", "$$")


def write(path: Path, sections: Sections) -> None:
    """Write a file that only its owner reads: it may hold passwords."""
    write_private(path, render(sections))


def write_private(path: Path, text: str) -> None:
    """Write a text that only its owner reads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)


def edit_paste(text: str, *, router: str, version_filter: str) -> str:
    """Put a router and a filter into the text of Nova's api-paste.ini.

    The filter stands after `sizelimit` in each pipeline of the versioned
    API: a body that is too long is refused before anything else is done.
    Raises ValueError for a file without those pipelines.
    """
    parser = _parser()
    parser.read_string(text)
    parser["app:osapi_compute_app_v21"]["paste.app_factory"] = router
    parser["filter:imprint_version"] = {"paste.filter_factory": version_filter}
    edited = 0
    for section in parser.sections():
        pipeline = parser[section].get("keystone", "").split()
        if "osapi_compute_app_v21" in pipeline:
            pipeline.insert(pipeline.index("sizelimit") + 1, "imprint_version")
            parser[section]["keystone"] = " ".join(pipeline)
            edited += 1
    if not edited:
        raise ValueError("no pipeline ends in osapi_compute_app_v21")
    return _dump(parser)


def _parser() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(
        interpolation=None, delimiters=("=", ":"), strict=True
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    return parser


def _dump(parser: configparser.RawConfigParser) -> str:
    out = io.StringIO()
    parser.write(out)
    return out.getvalue()
