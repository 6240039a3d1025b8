"""Runs steps and services in the order of their needs, side by side.

Knows order, not what is done: that is the caller's `act`.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from imprint.cloud.model import Node


def run(
    nodes: Sequence[Node],
    act: Callable[[Node], None],
    cancelled: threading.Event,
) -> None:
    """Act on each node as soon as all it needs are done.

    The first failure sets `cancelled`, which running acts should look at,
    keeps the rest from starting and is raised when all have ended.
    """
    waiting = {node.name: node for node in nodes}
    done: set[str] = set()
    running: dict[Future[None], Node] = {}
    failure: BaseException | None = None
    with ThreadPoolExecutor(max_workers=len(nodes) or 1) as pool:
        while waiting or running:
            ready = [n for n in waiting.values() if done.issuperset(n.needs)]
            for node in ready if failure is None else ():
                del waiting[node.name]
                running[pool.submit(act, node)] = node
            if not running:
                break
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                node = running.pop(future)
                error = future.exception()
                if error is None:
                    done.add(node.name)
                elif failure is None:
                    failure = error
                    cancelled.set()
    if failure:
        raise failure
    if waiting:
        needs = {need for node in waiting.values() for need in node.needs}
        unknown = ", ".join(sorted(needs - done - set(waiting)))
        raise ValueError(f"nothing provides {unknown or 'a circle of needs'}")
