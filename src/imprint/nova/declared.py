"""Tells what was declared for a server from what was computed for it.

Nova's system metadata of a server holds both under one prefix: the image's
properties with the overrides in them, and what the libvirt driver computes
once so that the guest stays as it is: Imprint's from the operating system,
Nova's registered defaults.  The request spec has only what was declared: what
the scheduler was asked for.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from nova import exception, objects, utils

from imprint.nova import hardware_record
from imprint.properties.merge import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def list_registered() -> frozenset[str]:
    """List the properties whose defaults Nova registers with a server."""
    # Now: the driver takes 9 MiB, which a nova-api that needs no list saves.
    from nova.virt.libvirt import driver  # noqa: PLC0415

    return frozenset(driver.REGISTER_IMAGE_PROPERTY_DEFAULTS)


def find_request_spec(
    context: Any, instance: objects.Instance
) -> objects.RequestSpec | None:
    """Find a server's request spec; one from before Nova had them has none."""
    try:
        return objects.RequestSpec.get_by_instance_uuid(context, instance.uuid)
    except exception.RequestSpecNotFound:
        return None


def find_computed(
    system_metadata: Mapping[str, Any],
    request_spec: objects.RequestSpec | None,
) -> frozenset[str]:
    """Find the image properties that were computed for a server.

    All others in its system metadata were declared, by its image or by an
    override.  Without a request spec nothing tells Nova's defaults apart, and
    all of them count as declared.
    """
    applied = hardware_record.list_applied(system_metadata)
    if request_spec is None:
        return applied
    declared = request_spec.image.properties if request_spec.image else None
    return applied | frozenset(
        name
        for name in list_registered()
        if utils.SM_IMAGE_PROP_PREFIX + name in system_metadata
        and not (declared and declared.obj_attr_is_set(name))
    )


def find_origins(
    system_metadata: Mapping[str, Any],
    request_spec: objects.RequestSpec | None,
) -> dict[Origin, frozenset[str]]:
    """Find what computed the image properties of :func:`find_computed`."""
    computed = find_computed(system_metadata, request_spec)
    applied = hardware_record.list_applied(system_metadata)
    return {Origin.OSINFO: applied, Origin.NOVA: computed - applied}
