"""Merges overrides into the image before anything in Nova reads it.

Derives from ``nova.compute.api.API``.  What belongs to one request lives on a
shallow clone of the API: no thread local, no attribute that a second request
could see.
"""

import copy
import types
from collections.abc import Mapping
from typing import Any, Self

from nova.compute import api as compute
from oslo_log import log as logging

from imprint import exceptions
from imprint.nova import (
    disk_bus,
    errors,
    image_api,
    image_properties,
    property_protections,
    system_metadata,
)
from imprint.properties import merge

LOG = logging.getLogger(__name__)


class API(compute.API):
    """Nova's compute API, with a server's overrides in its image."""

    #: of this request; empty on the API that requests share
    overrides: Mapping[str, str] = types.MappingProxyType({})
    #: what the image of this request said where its overrides stand
    replaced: Mapping[str, Any] = types.MappingProxyType({})

    #: who asks for the overrides; None: they were asked for before
    asker: Any = None

    def __init__(
        self,
        *,
        protections: property_protections.PropertyProtections,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("image_api", image_api.API())
        super().__init__(**kwargs)
        self.protections = protections

    def with_overrides(self, overrides: Mapping[str, str]) -> Self:
        """Return this API for one request with checked overrides."""
        clone = copy.copy(self)
        clone.overrides = overrides
        return clone

    def create(self, context: Any, *args: Any, **kwargs: Any) -> Any:
        """Create servers; log the names of their overrides, not the values."""
        if self.overrides:
            self.asker = context
        instances, reservation = super().create(context, *args, **kwargs)
        if self.overrides:
            accepted = ", ".join(sorted(self.overrides))
            for instance in instances:
                LOG.info(
                    "Created with overrides of the image properties %s",
                    accepted,
                    instance=instance,
                    context=context,
                )
        return instances, reservation

    def rebuild(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Rebuild a server; its overrides stay, whichever image it gets."""
        kept = system_metadata.read_record(instance.system_metadata)
        return super(API, self.with_overrides(kept)).rebuild(
            context, instance, *args, **kwargs
        )

    def _check_auto_disk_config(
        self,
        instance: Any = None,
        image: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Merge first.

        Create and rebuild call this with the image's dict right after they
        have it, whether from Glance, a volume, a volume's snapshot or from
        nothing (a blank root), and before they read it.
        """
        if image is not None and self.overrides:
            with errors.translated():
                self._merge(image)
        super()._check_auto_disk_config(
            instance=instance, image=image, **kwargs
        )

    def _merge(self, image: dict[str, Any]) -> None:
        said = image.get("properties") or {}
        vocabulary = image_properties.vocabulary()
        self.replaced = merge.find_replaced(said, self.overrides, vocabulary)
        merged = merge.merge(said, self.overrides, vocabulary)
        if self.asker is not None:
            self.protections.check(self.asker, said, merged, self.replaced)
        image["properties"] = merged
        # a blank root has no image at all, and its dict was empty
        image.setdefault("status", "active")
        if "os_command_line" in self.overrides:
            _check_kernel(image["properties"])

    def _check_and_transform_bdm(
        self, context: Any, base_options: dict[str, Any], *args: Any, **kw: Any
    ) -> Any:
        """Record which disks' bus is asked for in the request.

        A host writes what it computes into the same place.
        """
        bdms = super()._check_and_transform_bdm(
            context, base_options, *args, **kw
        )
        base_options["system_metadata"].update(disk_bus.build_record(bdms))
        return bdms

    def _populate_instance_for_create(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Record the overrides beside the image that they are merged into."""
        super()._populate_instance_for_create(
            context, instance, *args, **kwargs
        )
        if self.overrides:
            instance.system_metadata.update(
                system_metadata.build_record(self.overrides, self.replaced)
            )
        return instance


def _check_kernel(properties: Mapping[str, Any]) -> None:
    # A disk's own boot loader would never see the command line, and Nova
    # says nothing: https://bugs.launchpad.net/nova/+bug/1300861
    if properties.get("kernel_id") in (None, "", "nokernel"):
        raise exceptions.InvalidOverrideError(
            "os_command_line needs an image with the property kernel_id: "
            "this image boots from its disk, where no command line is passed"
        )
