"""Read the image property overrides that a user typed.

Only the form ``KEY=VALUE`` is judged here. Which keys and values are legal
is the server's to say: it knows its Nova and its operator's lists, a client
that repeated them would be wrong one release later. Knows none of the
libraries that send them.
"""

from collections.abc import Iterable

FIELD = "image_props_override"  # what the API calls them


class InvalidArgumentError(ValueError):
    """An override that cannot be read; the message names the argument."""


def parse(arguments: Iterable[str]) -> dict[str, str]:
    """Return the overrides in ``arguments``, each ``KEY=VALUE``.

    The first ``=`` ends the key, the value is kept whole: kernel command
    lines are full of ``=``. The order is kept. An argument may be repeated,
    two values for one key are an error, as dropping either would be a guess.

    :raises InvalidArgumentError: for no ``=``, an empty key or a second value
    """
    overrides: dict[str, str] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals:
            raise InvalidArgumentError(
                f"Image property override {argument!r} has no '=': "
                "KEY=VALUE is expected"
            )
        if not key:
            raise InvalidArgumentError(
                f"Image property override {argument!r} has no key before "
                "its '=': KEY=VALUE is expected"
            )
        if overrides.setdefault(key, value) != value:
            raise InvalidArgumentError(
                f"Image property override {key!r} is given twice with "
                f"different values: {overrides[key]!r} and {value!r}"
            )
    return overrides
