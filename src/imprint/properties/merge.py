"""The one rule about which of several values a server gets.

Override, image, osinfo, nova: the first that has a value for a property wins.
"""

import enum
from collections.abc import Container, Mapping
from typing import Any

from imprint.properties import names


class Origin(enum.Enum):
    """Where the value of a property comes from, the strongest first."""

    OVERRIDE = "override"  # asked for when the server was created
    IMAGE = "image"  # from Glance
    OSINFO = "osinfo"  # from what is known about the operating system
    NOVA = "nova"  # Nova's fixed default


def find_origin(name: str, values: Mapping[Origin, Container[str]]) -> Origin:
    """Find out which of ``values`` gives a property its value.

    For each origin they hold the names of the properties it has a value for.
    """
    for origin in Origin:
        if name in values.get(origin, ()):
            return origin
    return Origin.NOVA


def merge(
    properties: Mapping[str, Any],
    overrides: Mapping[str, str],
    vocabulary: names.Vocabulary,
) -> dict[str, Any]:
    """Return an image's ``properties`` with ``overrides`` over them.

    The overrides are checked ones.  Merging twice changes nothing.  Three
    properties have more than one name in an image:

    * A NUMA list is one property, spelled as one for each node: an override
      replaces all of it, or the image's last nodes would stay.
    * A legacy name follows the override where the image has it, and where
      the host reads it in place of the current one.
    * ``vmware_adaptertype`` is a legacy name of ``hw_disk_bus`` and
      ``hw_scsi_model`` together: it goes when the bus is overridden.
    """
    replaced = find_replaced(properties, overrides, vocabulary)
    merged = {
        name: value
        for name, value in properties.items()
        if name not in replaced
    }
    merged.update(overrides)
    for legacy, current in vocabulary.legacy.items():
        if current in overrides and (
            legacy in properties or legacy in vocabulary.read_raw
        ):
            merged[legacy] = overrides[current]
    return merged


def find_replaced(
    properties: Mapping[str, Any],
    overrides: Mapping[str, str],
    vocabulary: names.Vocabulary,
) -> dict[str, Any]:
    """Find what of an image's ``properties`` the ``overrides`` stand for.

    Also where both say the same: without the override the image's value would
    be there again, see :func:`restore`.
    """
    families = {
        node[0] for name in overrides if (node := names.numa_node(name))
    }

    def is_replaced(name: str) -> bool:
        if name in overrides or vocabulary.legacy.get(name) in overrides:
            return True
        if name == "vmware_adaptertype":
            return "hw_disk_bus" in overrides
        node = names.numa_node(name) if families else None
        return node is not None and node[0] in families

    return {
        name: value for name, value in properties.items() if is_replaced(name)
    }


def restore(
    merged: Mapping[str, Any],
    overrides: Mapping[str, str],
    replaced: Mapping[str, Any],
    vocabulary: names.Vocabulary,
) -> dict[str, Any]:
    """Return an image's properties as they were before :func:`merge`.

    ``replaced`` is what :func:`find_replaced` found then.
    """
    written = find_replaced(merged, overrides, vocabulary)
    kept = {
        name: value for name, value in merged.items() if name not in written
    }
    return {**kept, **replaced}
