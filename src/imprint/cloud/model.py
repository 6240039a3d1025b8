"""What the supervisor runs: services that stay and steps that end.

Pure descriptions; nothing here starts anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _nothing() -> None:
    pass


def _at_once() -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Step:
    """Something to be done before others start; safe to repeat.

    `run` raises CloudError.
    """

    name: str
    run: Callable[[], None]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Service:
    """A process that stays.

    `ready` is asked again and again until it says yes, for `limit` seconds
    at most.  `enter` is put before the command and leads to the namespaces
    it runs in, the supervisor's own by default.  `stop_seconds` pass between
    the request to end and the end.
    """

    name: str
    command: tuple[str, ...]
    ready: Callable[[], bool] = _at_once
    prepare: Callable[[], None] = _nothing
    needs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    enter: tuple[str, ...] = ()
    limit: float = 90
    stop_seconds: float = 5
    stop_first: bool = False
    stop_last: bool = False


Node = Step | Service
