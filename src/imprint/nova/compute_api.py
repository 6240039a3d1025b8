"""Merges overrides into the image before anything in Nova reads it.

Derives from ``nova.compute.api.API``.  What belongs to one request lives on a
shallow clone of the API: no thread local, no attribute that a second request
could see.
"""

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, Self

from nova import objects
from nova.compute import api as compute
from nova.conf import CONF
from oslo_log import log as logging

from imprint import exceptions
from imprint.nova import (
    declared,
    disk_bus,
    errors,
    hardware_record,
    image_api,
    image_properties,
    override_actions,
    property_protections,
    rebuild,
    system_metadata,
)
from imprint.properties import merge

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Rebuilt:
    """A server that is rebuilt, and the overrides it has until then."""

    instance: Any
    before: Mapping[str, str]


class API(compute.API):
    """Nova's compute API, with a server's overrides in its image.

    The attributes are of one request: the API that requests share has none.
    """

    #: None: the request says nothing of overrides
    overrides: Mapping[str, str] | None = None
    #: what the image said where the overrides stand
    replaced: Mapping[str, Any]
    #: the image with the overrides in it
    image: dict[str, Any]
    #: the server, in a rebuild
    rebuilt: _Rebuilt | None = None

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
        """Return this API for one request with checked overrides.

        None at all, ``{}``, is not the same as to say nothing: with a rebuild
        it takes away those of the server.
        """
        clone = copy.copy(self)
        clone.overrides = overrides
        clone.replaced = {}
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
        self,
        context: Any,
        instance: Any,
        image_href: str,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Rebuild a server.

        Its overrides are replaced by those of the request; where that says
        nothing, the option on_rebuild decides whether they stay.
        """

        def is_same_image() -> bool:
            found = rebuild.find_image(context, instance, self.volume_api)
            return found == image_href

        before = system_metadata.read_record(instance.system_metadata)
        chosen = self.overrides
        if chosen is None:
            chosen = before and rebuild.choose(
                CONF.image_props_override.on_rebuild,
                before,
                is_same_image,
            )
        scoped = self.with_overrides(chosen)
        # what stays with its image was accepted when it came
        if self.overrides is not None or (
            self.protections.enabled and chosen and not is_same_image()
        ):
            scoped.asker = context
        scoped.rebuilt = _Rebuilt(instance=instance, before=before)
        scoped.compute_task_api = rebuild.Conductor(
            self.compute_task_api,
            before=before,
            overrides=chosen,
            image=lambda: scoped.image,
            bus=rebuild.read_disk_bus(instance),
            has_record=hardware_record.exists(instance.system_metadata),
        )
        super(API, scoped).rebuild(
            context, instance, image_href, *args, **kwargs
        )
        if chosen != before:
            override_actions.add_event(context, instance, before, chosen)
            LOG.info(
                "Rebuilt with overrides of the image properties %s",
                ", ".join(sorted(chosen)) or "none",
                instance=instance,
                context=context,
            )

    def snapshot(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Make an image of a server, with what was declared for it."""
        scoped = self._for_image_of(context, instance)
        return super(API, scoped).snapshot(context, instance, *args, **kwargs)

    def backup(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Make a backup of a server, with what was declared for it."""
        scoped = self._for_image_of(context, instance)
        return super(API, scoped).backup(context, instance, *args, **kwargs)

    def snapshot_volume_backed(
        self, context: Any, instance: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Snapshot a server's volumes, with what was declared for it."""
        scoped = self._for_image_of(context, instance)
        return super(API, scoped).snapshot_volume_backed(
            context, instance, *args, **kwargs
        )

    def _for_image_of(self, context: Any, instance: Any) -> Self:
        """Return this API for an image that a user makes of a server.

        Not for shelve: its image has to give the same hardware again, so it
        keeps what Nova computed.
        """
        kept = instance.system_metadata
        bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(
            context, instance.uuid
        )
        clone = copy.copy(self)
        clone.image_api = self.image_api.without(
            declared.find_computed(
                kept, declared.find_request_spec(context, instance)
            ),
            disk_bus.list_computed(kept, bdms),
        )
        return clone

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
        if image is not None and (self.overrides or self.rebuilt):
            with errors.translated():
                self._merge(image)
        super()._check_auto_disk_config(
            instance=instance, image=image, **kwargs
        )

    def _merge(self, image: dict[str, Any]) -> None:
        overrides = self.overrides or {}
        said = image.get("properties") or {}
        vocabulary = image_properties.vocabulary()
        self.replaced = merge.find_replaced(said, overrides, vocabulary)
        merged = merge.merge(said, overrides, vocabulary)
        if self.asker is not None:
            self.protections.check(self.asker, said, merged, self.replaced)
        image["properties"] = merged
        # a blank root has no image at all, and its dict was empty
        image.setdefault("status", "active")
        self.image = image
        if "hw_disk_bus" in overrides:
            disk_bus.drop_declared(image["properties"])
        if "os_command_line" in overrides:
            _check_kernel(image["properties"])

    def _checks_for_create_and_rebuild(
        self,
        context: Any,
        image_id: str,
        image: dict[str, Any],
        flavor: Any,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Check overrides of a rebuild as Nova checks another image.

        A server without overrides before and after is left to Nova.
        """
        super()._checks_for_create_and_rebuild(
            context, image_id, image, flavor, *args, **kwargs
        )
        rebuilt = self.rebuilt
        if rebuilt is None or not (rebuilt.before or self.overrides):
            return
        self._validate_numa_rebuild(rebuilt.instance, image, flavor)
        new = (self.overrides or {}).items() - rebuilt.before.items()
        with errors.translated():
            rebuild.check_traits(
                context, rebuilt.instance, dict(new), self.placementclient
            )

    def _inherit_properties_from_image(
        self, image: dict[str, Any], *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """Put the records of a rebuild beside what is saved next.

        Nothing is checked after this, and Nova's save right behind it fails
        as a whole if the server is busy with something else.
        """
        if self.rebuilt is not None:
            system_metadata.replace_record(
                self.rebuilt.instance.system_metadata,
                self.overrides or {},
                self.replaced,
            )
            hardware_record.follow_rebuild(
                self.rebuilt.instance.system_metadata,
                image.get("properties") or {},
            )
        return super()._inherit_properties_from_image(image, *args, **kwargs)

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
