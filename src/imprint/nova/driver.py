"""Nova's libvirt driver, with a guest that keeps its server's overrides.

The API merges overrides into the image when a server is created, and Nova's
own copy of the image carries them from there.  Some operations of
nova-compute go back to the image in Glance or in the request instead, and
those know nothing of one server.  This driver puts the server's own
properties in their place, just before libvirt's configuration is built.
Likewise what follows from the operating system that an image names: see
:mod:`imprint.nova.hardware`, which decides it once for each server.

It must not ask whether an override was allowed: that happened in the API.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from nova import utils
from nova.compute import vm_states
from nova.conf import CONF
from nova.virt.libvirt import config as vconfig
from nova.virt.libvirt import driver
from oslo_log import log as logging

from imprint import conf
from imprint.nova import (
    disk_bus,
    disk_names,
    guest_hardware,
    hardware,
    hardware_record,
    override_actions,
    rescue,
    system_metadata,
)

if TYPE_CHECKING:
    # Nova fills this package only when its objects are registered.
    from nova import objects

LOG = logging.getLogger(__name__)

_MACHINE_TYPE = utils.SM_IMAGE_PROP_PREFIX + "hw_machine_type"


def _lay_over(
    instance: objects.Instance, image_meta: objects.ImageMeta
) -> objects.ImageMeta:
    """Return an image with the server's overrides and hardware over it.

    Its hardware was decided for one machine type.  The server keeps that when
    it is rebuilt, and the image in Glance does not say which it was.
    """
    kept = utils.instance_sys_meta(instance)
    decided = hardware_record.read_applied(kept)
    if hardware_record.read(kept) is not None and _MACHINE_TYPE in kept:
        decided = {"hw_machine_type": kept[_MACHINE_TYPE], **decided}
    image_meta = system_metadata.overlay(image_meta, decided)
    return system_metadata.overlay(
        image_meta, system_metadata.read_record(kept)
    )


class LibvirtDriver(driver.LibvirtDriver):
    """Builds each guest from its server's properties, overrides included."""

    def __init__(self, virtapi: Any, read_only: bool = False) -> None:
        super().__init__(virtapi, read_only)
        # The driver's own clients: no other part of Nova uses these objects.
        self._image_api = rescue.ImageAPI()
        self._volume_api = rescue.VolumeAPI()
        conf.register_opts(CONF)
        self._hardware = hardware.Hardware(self._host)

    def init_host(self, host: str) -> None:
        """Refuse to start where hardware cannot be decided as configured."""
        self._hardware.start()
        super().init_host(host)

    def prepare_for_spawn(self, instance: objects.Instance) -> None:
        """Decide the hardware of a new server.

        The first step of a build on a host.  The bus of the root disk is
        fixed in one of the next, so ``spawn`` would be too late.
        """
        self._hardware.decide(instance)
        super().prepare_for_spawn(instance)

    def default_root_device_name(
        self,
        instance: objects.Instance,
        image_meta: objects.ImageMeta,
        root_bdm: Any,
    ) -> str:
        """Name the root disk for the bus that was decided.

        The manager passes the image of the request.
        """
        return super().default_root_device_name(
            instance, _lay_over(instance, image_meta), root_bdm
        )

    def default_device_names_for_instance(
        self,
        instance: objects.Instance,
        root_device_name: str | None,
        *block_device_lists: Any,
    ) -> None:
        """Name the disks anew where another host has failed before.

        It wrote the bus that it chose beside those that were asked for.
        """
        computed = []
        if hardware.read_os_name(instance):
            computed = disk_bus.forget_computed(
                instance.system_metadata,
                itertools.chain(*block_device_lists),
            )
        for root in computed:
            if root.boot_index == 0:
                root_device_name = self.default_root_device_name(
                    instance, instance.image_meta, root
                )
                instance.root_device_name = root_device_name
        super().default_device_names_for_instance(
            instance, root_device_name, *block_device_lists
        )

    def spawn(
        self,
        context: Any,
        instance: objects.Instance,
        image_meta: objects.ImageMeta,
        *args: Any,
        block_device_info: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Lay what the server has over the image that the manager read.

        A rebuild reads it from Glance again, unshelve and cross-cell resize
        read a snapshot.  Their own facts about the image (its format) count,
        so they are not replaced by the server's copy.
        """
        overrides = system_metadata.read_record(
            utils.instance_sys_meta(instance)
        )
        self._hardware.settle(instance)
        if instance.vm_state == vm_states.SHELVED_OFFLOADED:
            # The snapshot has what the server had when it was shelved: an
            # override may have gone since.
            image_meta = image_meta.obj_clone()
            image_meta.properties = instance.image_meta.properties
        else:
            image_meta = _lay_over(instance, image_meta)
        if overrides and instance.vm_state == vm_states.BUILDING:
            # The conductor makes the action of a create, so nova-api has
            # none to add to.
            override_actions.add_event(context, instance, {}, overrides)
        disk_names.settle(instance, image_meta, block_device_info)
        with hardware.leaving_nothing(instance):
            super().spawn(
                context,
                instance,
                image_meta,
                *args,
                block_device_info=block_device_info,
                **kwargs,
            )

    def finish_migration(
        self,
        context: Any,
        migration: objects.Migration,
        instance: objects.Instance,
        disk_info: str,
        network_info: Any,
        image_meta: objects.ImageMeta,
        resize_instance: bool,
        allocations: dict[str, Any],
        block_device_info: dict[str, Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Build the migrated guest from the server's copy of the image.

        The manager passes the image of the request.  It lacks what Nova
        registered with the server since: a guest made with ``pc`` would come
        back as ``q35`` where the host's default has changed.
        """
        self._hardware.settle(instance)
        image_meta = instance.image_meta
        disk_names.settle(instance, image_meta, block_device_info)
        super().finish_migration(
            context,
            migration,
            instance,
            disk_info,
            network_info,
            image_meta,
            resize_instance,
            allocations,
            block_device_info,
            *args,
            **kwargs,
        )

    def finish_revert_migration(
        self,
        context: Any,
        instance: objects.Instance,
        network_info: Any,
        migration: objects.Migration,
        block_device_info: dict[str, Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Build the guest again on the host that it came from."""
        self._hardware.settle(instance)
        disk_names.settle(instance, instance.image_meta, block_device_info)
        super().finish_revert_migration(
            context,
            instance,
            network_info,
            migration,
            block_device_info,
            *args,
            **kwargs,
        )

    def _hard_reboot(
        self,
        context: Any,
        instance: objects.Instance,
        network_info: Any,
        share_info: Any,
        block_device_info: dict[str, Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Build the guest anew, as every start of a stopped server does.

        Its image properties may have changed while it was off.  Nova
        registers its defaults only with a new guest, here where one of those
        properties went.
        """
        self._hardware.settle(instance)
        disk_names.settle(instance, instance.image_meta, block_device_info)
        super()._hard_reboot(
            context,
            instance,
            network_info,
            share_info,
            block_device_info,
            *args,
            **kwargs,
        )
        self._register_undefined_instance_details(context, instance)

    def rescue(
        self,
        context: Any,
        instance: objects.Instance,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Let a stable rescue read the server's copy of its image.

        Rescue takes the rescue image as its argument and reads the server's
        own image inside, so the clients answer for it.  A legacy rescue builds
        the guest from the rescue image alone, and Nova writes the machine type
        of that guest down as the server's: it would stay after the rescue.
        """
        kept = instance.system_metadata.get(_MACHINE_TYPE)
        try:
            with rescue.rescuing(instance):
                super().rescue(context, instance, *args, **kwargs)
        finally:
            if kept is not None:
                instance.system_metadata[_MACHINE_TYPE] = kept

    def attach_volume(
        self,
        context: Any,
        connection_info: Any,
        instance: objects.Instance,
        mountpoint: str,
        disk_bus: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Attach a volume to the bus that was decided for the server."""
        disk_bus = disk_bus or disk_names.find_late_bus(instance, mountpoint)
        super().attach_volume(
            context,
            connection_info,
            instance,
            mountpoint,
            disk_bus,
            *args,
            **kwargs,
        )

    def _register_undefined_instance_details(
        self, context: Any, instance: objects.Instance
    ) -> None:
        """Leave a server alone whose hardware is decided with its next guest.

        At every start of nova-compute Nova registers its defaults for what a
        server has not.  They would count as declared.
        """
        if not hardware_record.is_due(instance.system_metadata):
            super()._register_undefined_instance_details(context, instance)

    def _create_snapshot_metadata(
        self,
        image_meta: objects.ImageMeta,
        instance: objects.Instance,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Leave out an os_type that nobody declared.

        Nova writes it into the image once more, from the server.  The image
        of a shelved server has had it from the API.
        """
        metadata: dict[str, Any] = super()._create_snapshot_metadata(
            image_meta, instance, *args, **kwargs
        )
        if "os_type" in hardware_record.list_applied(instance.system_metadata):
            del metadata["properties"]["os_type"]
        return metadata

    def _get_guest_config(
        self,
        instance: objects.Instance,
        network_info: Any,
        image_meta: objects.ImageMeta,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Give the guest the clock and the features of the record.

        Nova's methods for these see neither the server nor os_name.
        """
        guest = super()._get_guest_config(
            instance, network_info, image_meta, *args, **kwargs
        )
        record = hardware_record.read(instance.system_metadata)
        if record is not None:
            guest_hardware.apply(
                guest, record.choices, instance.os_type, image_meta
            )
        return guest

    def _set_features(
        self,
        guest: Any,
        os_type: str | None,
        image_meta: objects.ImageMeta,
        flavor: objects.Flavor,
    ) -> None:
        """Leave out Hyper-V features where QEMU runs without KVM.

        Nova gives them to every Windows guest, but KVM implements them: QEMU
        alone refuses to start ("kernel doesn't allow setting HyperV
        VP_INDEX"), so no server with ``os_type=windows`` would boot.
        """
        super()._set_features(guest, os_type, image_meta, flavor)
        if CONF.libvirt.virt_type != "qemu":
            return
        kept = [
            feature
            for feature in guest.features
            if not isinstance(feature, vconfig.LibvirtConfigGuestFeatureHyperV)
        ]
        if len(kept) < len(guest.features):
            guest.features = kept
            LOG.info(
                "Guest gets no Hyper-V features: virt_type=qemu has none",
                instance_uuid=guest.uuid,
            )
