"""Which image properties decided where a server runs.

They cannot change under a server that has its host: nothing would ask the
scheduler again.  There is no list of them.  What Nova would ask of the
scheduler is built from the properties before and after, by Nova's own code,
and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nova import exception, objects
from nova.conf import CONF
from nova.objects.image_meta import ImageMeta
from nova.scheduler import request_filter, utils
from nova.virt import hardware

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Nova's request filters that read the image; those which ask for the
#: properties' sake alone.  (isolate_aggregates goes by the traits.)
REQUEST_FILTERS = (
    request_filter.transform_image_metadata,
    request_filter.packed_virtqueue_filter,
    request_filter.ephemeral_encryption_filter,
    request_filter.virtio_sound_filter,
    request_filter.tpm_secret_security_filter,
)

#: What Nova's host filters read from the image themselves.
HOST_FILTERS = {
    "ImagePropertiesFilter": (
        "hw_architecture",
        "hw_maxphysaddr_bits",
        "hw_vm_mode",
        "img_hv_requested_version",
        "img_hv_type",
    ),
    "NUMATopologyFilter": ("hw_cpu_policy", "hw_cpu_thread_policy"),
}

# The cells of a guest with a NUMA topology were fitted into the host's.
_CPU_TOPOLOGY = (
    "hw_cpu_cores",
    "hw_cpu_max_cores",
    "hw_cpu_max_sockets",
    "hw_cpu_max_threads",
    "hw_cpu_sockets",
    "hw_cpu_threads",
)

_ISOLATION_FILTER = "AggregateImagePropertiesIsolation"


def find_decisive(
    context: Any,
    flavor: objects.Flavor,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> list[str]:
    """Find the changed image properties that the scheduler decided by.

    Both are what was declared for a server, by current names, and Nova's
    checks have passed for both.  None found: it can stay where it is.
    """
    isolating = _list_isolating(context)

    def ask(properties: Mapping[str, Any]) -> Any:
        return _ask(context, flavor, properties, isolating)

    asked = ask(before)
    if ask(after) == asked:
        return []
    changed = sorted(
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    )
    return [
        name
        for name in changed
        if _is_decisive(name, ask, asked, before, after)
    ] or changed


def _is_decisive(
    name: str,
    ask: Any,
    asked: Any,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> bool:
    """Tell whether one property alone makes the difference."""
    alone = {key: value for key, value in before.items() if key != name}
    if name in after:
        alone[name] = after[name]
    try:
        return bool(ask(alone) != asked)
    except (exception.NovaException, ValueError):
        # half of a change, such as one node of two
        return True


def _ask(
    context: Any,
    flavor: objects.Flavor,
    properties: Mapping[str, Any],
    isolating: frozenset[str],
) -> Any:
    """Build what the scheduler is asked, in a form that compares."""
    # from_dict takes the NUMA names out of its argument
    image = ImageMeta.from_dict({"properties": dict(properties)})
    request_spec = objects.RequestSpec(
        context=context,
        flavor=flavor,
        image=image,
        is_bfv=True,
        requested_resources=[],
        request_level_params=objects.RequestLevelParams(),
    )
    for add in REQUEST_FILTERS:
        add(context, request_spec)
    request = utils.ResourceRequest.from_request_spec(request_spec)
    numa = hardware.numa_get_constraints(flavor, image)
    names = {name for names in HOST_FILTERS.values() for name in names}
    if numa is not None:
        names.update(_CPU_TOPOLOGY)
    return (
        request.to_querystring(),
        numa and numa.obj_to_primitive(),
        hardware.get_pci_numa_policy_constraint(flavor, image),
        [
            (name, image.properties.get(name))
            for name in sorted(names | isolating)
        ],
    )


def _list_isolating(context: Any) -> frozenset[str]:
    """List the properties by which the operator isolates hosts."""
    if _ISOLATION_FILTER not in CONF.filter_scheduler.enabled_filters:
        return frozenset()
    aggregates = objects.AggregateList.get_all(context.elevated())
    fields = objects.ImageMetaProps.fields
    return frozenset(
        key
        for aggregate in aggregates
        for key in aggregate.metadata
        if key in fields
    )
