"""What a server has: every image property, its value and where it is from.

Reads what the host wrote down when it merged; decides nothing anew.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from imprint.properties import merge, names
from imprint.properties.merge import Origin


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effective:
    """One property that a server has."""

    value: str
    origin: Origin
    #: what the image said where an override won; None: nothing
    image: str | None = None

    def render(self) -> dict[str, str]:
        """Return it as the API shows it."""
        shown = {"value": self.value, "origin": self.origin.value}
        if self.image is not None:
            shown["image"] = self.image
        return shown


def describe(
    properties: Mapping[str, Any],
    *,
    overrides: Mapping[str, str],
    replaced: Mapping[str, Any],
    computed: Mapping[Origin, Collection[str]],
    vocabulary: names.Vocabulary,
) -> dict[str, Effective]:
    """Describe each of ``properties`` that the host knows, by current name.

    ``properties`` are the merged ones, ``replaced`` is what the image said
    under the overrides, see :func:`imprint.properties.merge.find_replaced`.
    ``computed`` are the names whose value neither the image nor an override
    gave, by the origin that did.  Properties that mean nothing to the host
    are left out.
    """
    said = read_current(replaced, vocabulary)
    values = read_current(properties, vocabulary)
    origins: dict[Origin, Collection[str]] = {
        Origin.OVERRIDE: overrides.keys(),
        Origin.IMAGE: values.keys() - set().union(*computed.values()),
        **computed,
    }
    described = {}
    for name, value in sorted(values.items()):
        origin = merge.find_origin(name, origins)
        described[name] = Effective(
            value=value,
            origin=origin,
            image=said.get(name) if origin is Origin.OVERRIDE else None,
        )
    return described


def read_current(
    properties: Mapping[str, Any], vocabulary: names.Vocabulary
) -> dict[str, str]:
    """Read what the host makes of ``properties``, by their current names."""
    return dict(_list_current(properties, vocabulary))


def _list_current(
    properties: Mapping[str, Any], vocabulary: names.Vocabulary
) -> Iterator[tuple[str, str]]:
    """Yield what the host reads; of a name that comes twice the last counts.

    The order is that of Nova's ImageMetaProps.from_dict.
    """
    present = {
        name: str(value)
        for name, value in properties.items()
        if value is not None
    }
    for legacy, current in vocabulary.legacy.items():
        if legacy in present:
            yield current, present[legacy]
    # one legacy name of two properties
    if adapter := present.get("vmware_adaptertype"):
        yield "hw_disk_bus", "ide" if adapter == "ide" else "scsi"
        if adapter != "ide":
            yield "hw_scsi_model", adapter
    for name, value in present.items():
        if name in vocabulary.fields or _is_trait(name, value):
            yield name, value
    for family in sorted(names.NUMA_FAMILIES):
        # the host stops at the first node that is not there
        for node in range(vocabulary.max_numa_nodes):
            name = f"{family}.{node}"
            if name not in present:
                break
            yield name, present[name]


def _is_trait(name: str, value: str) -> bool:
    return name.startswith(names.TRAIT_PREFIX) and value == "required"
