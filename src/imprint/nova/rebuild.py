"""What a rebuild does to a server's overrides, and they to the rebuild.

Nova asks the scheduler, looks at the NUMA topology and updates the request
spec only for a rebuild with another image.  Other overrides make another
image of the same one, so a rebuild that changes them gets all of that too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nova import objects, utils
from nova.compute import utils as compute_utils

from imprint import exceptions
from imprint.nova import disk_bus, hardware_record
from imprint.properties import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DISK_BUS = "hw_disk_bus"


def choose(
    mode: str,
    recorded: Mapping[str, str],
    is_same_image: Callable[[], bool],
) -> Mapping[str, str]:
    """Return the overrides that stay where the request does not say.

    ``mode`` is the option on_rebuild.
    """
    if mode == "keep" or (mode == "same-image" and is_same_image()):
        return recorded
    return {}


def find_image(
    context: Any, instance: objects.Instance, volume_api: Any
) -> str | None:
    """Find the image that a server was built from.

    That of its root volume, for a server that boots from one.
    """
    if instance.image_ref:
        return instance.image_ref
    root = compute_utils.get_root_bdm(context, instance)
    if root is None or not root.volume_id:
        return None
    volume = volume_api.get(context, root.volume_id)
    return (volume.get("volume_image_metadata") or {}).get("image_id")


def check_traits(
    context: Any,
    instance: objects.Instance,
    asked: Mapping[str, str],
    placement: Any,
) -> None:
    """Accept overrides whose traits the server's host has.

    The conductor looks at the traits of the image in Glance, and only when
    the server is on its way already.

    :raises InvalidOverrideError: a trait that none of the server's resource
        providers has, or that its flavor forbids
    """
    traits = {
        name.removeprefix(names.TRAIT_PREFIX)
        for name in asked
        if name.startswith(names.TRAIT_PREFIX)
    }
    if not traits:
        return
    forbidden = {
        name.partition(":")[2]
        for name, value in instance.flavor.extra_specs.items()
        if name.startswith("trait") and value == "forbidden"
    }
    if refused := sorted(traits & forbidden):
        raise exceptions.InvalidOverrideError(
            f"trait:{refused[0]} cannot be required: the flavor of this "
            f"server forbids that trait"
        )
    found: set[str] = set()
    for provider in placement.get_allocations_for_consumer(
        context, instance.uuid
    ):
        found |= placement.get_provider_traits(context, provider).traits
    if missing := sorted(traits - found):
        raise exceptions.InvalidOverrideError(
            f"trait:{missing[0]} cannot be required: a rebuild leaves the "
            f"server on its host, which does not have that trait"
        )


class Conductor:
    """Nova's conductor API as one rebuild sees it.

    Nova passes the rebuild on here as the last step, when every check is over
    and the server's system metadata is written.
    """

    def __init__(
        self,
        conductor: Any,
        *,
        before: Mapping[str, str],
        overrides: Mapping[str, str],
        image: Callable[[], dict[str, Any]],
        bus: str | None,
        has_record: bool,
    ) -> None:
        """Wrap ``conductor``.

        ``before`` and ``overrides`` are the server's overrides until now and
        from now on, ``image`` returns the image with the latter merged,
        ``bus`` is the effective hw_disk_bus until now, ``has_record`` tells
        whether the server's hardware was chosen by its operating system.
        """
        self._conductor = conductor
        self._before = before
        self._overrides = overrides
        self._image = image
        self._bus = bus
        self._has_record = has_record

    def rebuild_instance(
        self,
        context: Any,
        *,
        instance: objects.Instance,
        bdms: objects.BlockDeviceMappingList,
        host: str | None,
        request_spec: objects.RequestSpec,
        **kwargs: Any,
    ) -> Any:
        """Rebuild; ``host`` is None where the scheduler is asked."""
        image = self._image()
        if (
            _DISK_BUS in self._before
            or _DISK_BUS in self._overrides
            # where the image says no bus, its host chooses
            or self._has_record
            or image["properties"].get(hardware_record.OS_NAME)
        ):
            disk_bus.realign(
                instance, bdms, {_DISK_BUS: self._bus}, image["properties"]
            )
        if host is not None and self._update(request_spec, image):
            host = self._ask_scheduler(request_spec, instance)
        return self._conductor.rebuild_instance(
            context,
            instance=instance,
            bdms=bdms,
            host=host,
            request_spec=request_spec,
            **kwargs,
        )

    def _update(
        self, request_spec: objects.RequestSpec, image: dict[str, Any]
    ) -> bool:
        """Give the request spec what the server gets; tell if that is new.

        For a server without overrides too, whose image was edited in Glance:
        its system metadata has the new properties by now.
        """
        declared = objects.ImageMeta.from_dict(image)
        if _data(request_spec.image) == _data(declared):
            return False
        request_spec.image = declared
        request_spec.save()
        return self._before != self._overrides

    @staticmethod
    def _ask_scheduler(
        request_spec: objects.RequestSpec, instance: objects.Instance
    ) -> None:
        """Send the rebuild through the filters, as Nova does for an image.

        See compute.API.rebuild.  No id: the hint is for this request only and
        must not be saved.
        """
        if "scheduler_hints" not in request_spec:
            request_spec.scheduler_hints = {}
        del request_spec.id
        request_spec.scheduler_hints["_nova_check_type"] = ["rebuild"]
        request_spec.force_hosts = [instance.host]
        request_spec.force_nodes = [instance.node]


def read_disk_bus(instance: objects.Instance) -> str | None:
    """Read the effective hw_disk_bus of a server."""
    return instance.system_metadata.get(utils.SM_IMAGE_PROP_PREFIX + _DISK_BUS)


def _data(image: objects.ImageMeta | None) -> Any:
    if image is None:
        return None
    return image.properties.obj_to_primitive()["nova_object.data"]
