"""Reads files of hardware rules; the only I/O of this package."""

import importlib.resources
import os
import pathlib

from imprint import exceptions
from imprint.hardware import rules

_OWN = "rules.toml"


def load(directory: str | os.PathLike[str] | None = None) -> rules.Rules:
    """Return the rules of this package and after them an operator's.

    :param directory: its ``*.toml`` files count, in the order of their
        names; it need not exist
    :raises InvalidRuleError: naming the file, the rule and what is wrong
    """
    own = importlib.resources.files("imprint.hardware").joinpath(_OWN)
    loaded = rules.Rules(rules=rules.parse(own.read_text("utf-8"), _OWN))
    if directory is None:
        return loaded
    for path in _list_files(pathlib.Path(directory)):
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise exceptions.InvalidRuleError(f"{path}: {exc}") from exc
        loaded = loaded.extend(rules.parse(text, str(path)))
    return loaded


def _list_files(directory: pathlib.Path) -> list[pathlib.Path]:
    try:
        return sorted(
            path for path in directory.iterdir() if path.suffix == ".toml"
        )
    except FileNotFoundError:
        return []
    except OSError as exc:
        raise exceptions.InvalidRuleError(f"{directory}: {exc}") from exc
