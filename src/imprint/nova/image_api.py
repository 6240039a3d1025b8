"""Nova's image API as Imprint's compute API uses it.

nova-api creates every image of a server here: snapshot, backup, snapshot of a
volume-backed server, shelve.  Nova fills them from the server's system
metadata, whole.  What a user gets is what was declared for the server: the
new image boots with what its host then finds best, as the first one did.

A Glance that keeps which image belongs to which server is told so, if this
Nova has a name for it to tell.
"""

import copy
import functools
from collections.abc import Callable, Collection
from typing import Any, Self

from nova.conf import CONF
from nova.image import glance

from imprint.nova import (
    base_recorder,
    image_discovery,
    image_service,
    system_metadata,
)
from imprint.relations import model


class API(glance.API):
    """Keeps what Imprint wrote down about a server out of its images."""

    _computed: Collection[str] = ()
    _computed_disks: Collection[str] = ()
    _claim: image_service.Claim | None = None

    def __init__(self) -> None:
        super().__init__()
        self._discovery = image_discovery.Discovery()

    def of(self, instance: Any, kind: model.Kind) -> Self:
        """Return this API for an image that is made of ``instance``."""
        clone = copy.copy(self)
        clone._claim = _build_claim(instance, kind)  # noqa: SLF001
        return clone

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

    @property
    def records_base(self) -> bool:
        """Whether the operator wants to know the images of new servers."""
        return bool(
            CONF.imprint.record_base and CONF.imprint.nova_installation_uuid
        )

    def record_base(
        self, context: Any, instance: Any, find: Callable[[], str | None]
    ) -> None:
        """Have it recorded that a server is made from the image of ``find``.

        That is called, and the image recorded, later or not at all: nothing
        is raised here, and nothing waited for.
        """
        claim = _build_claim(instance, model.Kind.BASE)
        if self.records_base and claim:
            base_recorder.find_recorder().put(
                functools.partial(
                    base_recorder.record, context, claim, find, self._discovery
                )
            )

    def _get_session(self, context: Any) -> glance.GlanceImageServiceV2:
        if self._claim is None:
            return super()._get_session(context)
        return image_service.InstanceAwareGlanceImageService(
            self._claim, self._discovery
        )

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


def _build_claim(
    instance: Any, kind: model.Kind
) -> image_service.Claim | None:
    """Build what Glance is to be told; None: this Nova has no name."""
    installation_uuid = CONF.imprint.nova_installation_uuid
    if not installation_uuid:
        return None
    return image_service.Claim(
        installation_uuid=installation_uuid,
        instance_uuid=instance.uuid,
        project_id=instance.project_id,
        kind=kind,
    )
