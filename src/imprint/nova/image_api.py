"""Nova's image API as Imprint's compute API uses it.

nova-api creates every image of a server here: snapshot, backup, snapshot of a
volume-backed server, shelve.  Nova fills them from the server's system
metadata, whole.  What a user gets is what was declared for the server: the
new image boots with what its host then finds best, as the first one did.
"""

import copy
from collections.abc import Collection
from typing import Any, Self

from nova.image import glance

from imprint.nova import system_metadata


class API(glance.API):
    """Keeps what Imprint wrote down about a server out of its images."""

    _computed: Collection[str] = ()
    _computed_disks: Collection[str] = ()

    def without(
        self, computed: Collection[str], disks: Collection[Any]
    ) -> Self:
        """Return this API for an image without what Nova computed.

        ``computed`` are names of image properties, ``disks`` the block device
        mappings whose bus Nova chose.
        """
        clone = copy.copy(self)
        clone._computed = computed  # noqa: SLF001 - of this class
        clone._computed_disks = [  # noqa: SLF001
            bdm.device_name for bdm in disks if bdm.disk_bus
        ]
        return clone

    def create(
        self, context: Any, image_info: dict[str, Any], data: Any = None
    ) -> dict[str, Any]:
        """Create an image from ``image_info`` without Imprint's records."""
        if properties := image_info.get("properties"):
            image_info = {**image_info, "properties": self._clean(properties)}
        return super().create(context, image_info, data=data)

    def _clean(self, properties: dict[str, Any]) -> dict[str, Any]:
        cleaned = {
            name: value
            for name, value in system_metadata.strip_records(
                properties
            ).items()
            if name not in self._computed
        }
        if cleaned.get("root_device_name") in self._computed_disks:
            del cleaned["root_device_name"]
        if "block_device_mapping" in cleaned:
            cleaned["block_device_mapping"] = [
                self._clean_mapping(mapping)
                for mapping in cleaned["block_device_mapping"]
            ]
        return cleaned

    def _clean_mapping(self, mapping: dict[str, Any]) -> dict[str, Any]:
        # a name goes with the bus: vda says virtio
        if mapping.get("device_name") not in self._computed_disks:
            return mapping
        return {**mapping, "disk_bus": None, "device_name": None}
