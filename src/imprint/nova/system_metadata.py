"""What Imprint writes down about a server, in Nova's system metadata.

A server's overrides are recorded beside Nova's own copy of the image, so that
every later reader (rebuild, the compute host, ``GET /servers/{id}``) knows
what its owner asked for.  A tenant writes system metadata only through the
properties of an image, and Nova gives each of those the prefix ``image_``: a
record, which has another prefix, cannot be forged.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any

from nova import utils
from nova.objects.image_meta import ImageMeta, ImageMetaProps

# Not ``image_``: rebuild wipes that prefix, and Nova would take the record
# for an image property.
PREFIX = "imprint_override:"
#: of what the image said, where an override stands in its place
REPLACED_PREFIX = "imprint_image:"
#: of the disks whose bus was asked for with block_device_mapping_v2
DISK_BUS_PREFIX = "imprint_disk_bus:"
#: of what Nova had registered, where a later override stands in its place
REGISTERED_PREFIX = "imprint_registered:"
#: of what was decided from the operating system, see imprint.nova.hardware
HARDWARE_PREFIX = "imprint_hardware:"
_PREFIXES = (PREFIX, REPLACED_PREFIX, REGISTERED_PREFIX)

# Key and value columns of Nova's table instance_system_metadata.
MAX_BYTES = 255
MAX_NAME_BYTES = MAX_BYTES - max(
    map(len, (*_PREFIXES, utils.SM_IMAGE_PROP_PREFIX))
)


def build_record(
    overrides: Mapping[str, str], replaced: Mapping[str, Any]
) -> dict[str, str]:
    """Build the system metadata that records ``overrides``.

    ``replaced`` are the image's own properties that they stand for.  As Nova
    does with all of an image, a value that is too long is cut.
    """
    record = {PREFIX + name: value for name, value in overrides.items()}
    for name, value in replaced.items():
        record[REPLACED_PREFIX + name] = utils.safe_truncate(
            str(value), MAX_BYTES
        )
    return record


def replace_record(
    system_metadata: MutableMapping[str, Any],
    overrides: Mapping[str, str],
    replaced: Mapping[str, Any],
) -> None:
    """Write the record of ``overrides`` in the place of the present one."""
    for key in [key for key in system_metadata if key.startswith(_PREFIXES)]:
        del system_metadata[key]
    system_metadata.update(build_record(overrides, replaced))


def read_record(system_metadata: Mapping[str, Any]) -> dict[str, str]:
    """Read a server's overrides; none is ``{}``."""
    return _read(system_metadata, PREFIX)


def read_replaced(system_metadata: Mapping[str, Any]) -> dict[str, str]:
    """Read what the image said where a server's overrides stand."""
    return _read(system_metadata, REPLACED_PREFIX)


def write_registered(
    system_metadata: MutableMapping[str, Any], registered: Mapping[str, str]
) -> None:
    """Write what Nova had registered where overrides stand now."""
    for name, value in registered.items():
        system_metadata[REGISTERED_PREFIX + name] = value


def read_registered(system_metadata: Mapping[str, Any]) -> dict[str, str]:
    """Read what Nova had registered where a server's overrides stand."""
    return _read(system_metadata, REGISTERED_PREFIX)


def read_image_properties(
    system_metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """Read Nova's copy of a server's image properties.

    They are the effective ones: merged, and with what Nova registered.
    """
    return _read(system_metadata, utils.SM_IMAGE_PROP_PREFIX)


def _read(system_metadata: Mapping[str, Any], prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix): value
        for key, value in system_metadata.items()
        if key.startswith(prefix)
    }


def strip_records(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return image properties without Imprint's records.

    Nova copies every key of the system metadata into the properties of a
    snapshot, not only those which came from an image.
    """
    return {
        name: value
        for name, value in properties.items()
        if not name.startswith((*_PREFIXES, DISK_BUS_PREFIX, HARDWARE_PREFIX))
    }


def overlay(image_meta: ImageMeta, overrides: Mapping[str, str]) -> ImageMeta:
    """Return ``image_meta`` with ``overrides`` on top of its properties.

    For readers which hold Nova's object instead of the image's dict: it gives
    what :func:`imprint.properties.merge.merge` gives.  Names that are no field
    of ImageMetaProps (``os_name``) are left out.  The argument stays as it is.
    """
    if not overrides:
        return image_meta
    merged = image_meta.obj_clone()
    if not merged.obj_attr_is_set("properties"):
        merged.properties = ImageMetaProps()
    # from_dict takes the NUMA names out of its argument
    asked = ImageMetaProps.from_dict(dict(overrides))
    for field in asked.obj_what_changed():
        value = getattr(asked, field)
        if field == "traits_required":
            # one property per trait: those of the image stay
            kept = merged.properties.get(field) or []
            value = [*kept, *(trait for trait in value if trait not in kept)]
        setattr(merged.properties, field, value)
    return merged
