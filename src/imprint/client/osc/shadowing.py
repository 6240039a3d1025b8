"""Put a function of ours in front of a client's for one command."""

import argparse
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

_Action = Callable[[argparse.Namespace], Any]


@contextlib.contextmanager
def shadowed(client: Any, function: Callable[..., Any]) -> Iterator[None]:
    """Let ``client`` have ``function``, under its name, inside the block.

    The attribute is the instance's, its class is left alone. Interactive
    mode keeps the client for the next command, and a hook's ``after`` does
    not run when the command fails: the block ends in every case.
    """
    name = function.__name__
    attributes = vars(client)
    others = attributes.get(name)  # another hook's
    attributes[name] = function
    try:
        yield
    finally:
        del attributes[name]
        if others:
            attributes[name] = others


def during(
    action: _Action, client: Any, function: Callable[..., Any]
) -> _Action:
    """Return ``action``, during which ``client`` has ``function``."""

    @functools.wraps(action)
    def wrapped(parsed_args: argparse.Namespace) -> Any:
        with shadowed(client, function):
            return action(parsed_args)

    return wrapped
