"""Nova's image properties, described for Imprint's pure part.

Names, enum values and traits are read from Nova's own classes and from
os-traits, once, when the first override arrives.
"""

import functools
import re
from collections.abc import Callable

import os_traits
from nova import exception
from nova.objects import fields
from nova.objects.image_meta import ImageMetaProps
from nova.virt import hardware
from oslo_utils import strutils, uuidutils

from imprint.nova import system_metadata
from imprint.properties import names

# ImageMetaProps holds these as lists of mappings or as a list from many keys.
INEXPRESSIBLE = {
    "hw_numa_cpus": "use hw_numa_cpus.0, hw_numa_cpus.1 and so on",
    "hw_numa_mem": "use hw_numa_mem.0, hw_numa_mem.1 and so on",
    "traits_required": "use trait:NAME=required for each trait",
    "img_block_device_mapping": "use block_device_mapping_v2 of the server",
    "img_mappings": "use block_device_mapping_v2 of the server",
}

# compute.API reads these legacy names from the image's dict, never the
# current ones: _inherit_properties_from_image, _get_image_defined_bdms,
# block_device.properties_root_device_name, get_auto_disk_config_from_*.
READ_RAW = frozenset(
    {
        "architecture",
        "auto_disk_config",
        "bdm_v2",
        "root_device_name",
        "vm_mode",
    }
)

# libvirt's and QEMU's counts are C ints.
_MAX_INTEGER = 2**31 - 1
# libvirt's VIR_DOMAIN_CPUMASK_LEN.  Nova expands a range into a set first and
# looks at the flavor later: without a bound "0-99999999999" fills the memory.
_MAX_CPUS = 16384

_DIGITS = re.compile(r"[0-9]+")
_CPU_RULE = re.compile(r"\^?([0-9]{1,9})(?:-([0-9]{1,9}))?")
# hardware._get_numa_pagesize_constraint
_PAGE_SIZE = re.compile(r"[0-9]{1,9}(?:[KMGT]i?[bB]?|[bB])?")

_FindFault = Callable[[str], str | None]


@functools.cache
def vocabulary() -> names.Vocabulary:
    """Return what this Nova knows about image properties."""
    known = ImageMetaProps.fields
    faults = {
        name: _find_faults(name) for name in known if name not in INEXPRESSIBLE
    }

    def find_fault(name: str, value: str) -> str | None:
        node = names.numa_node(name)
        find = faults.get(node[0] + ".N" if node else name)
        return find(value) if find else None

    faults["hw_virtio_drivers"] = _find_boolean_fault
    faults["hw_numa_cpus.N"] = _find_cpus_fault
    faults["hw_numa_mem.N"] = _find_integer_fault
    return names.Vocabulary(
        fields=frozenset(known) - INEXPRESSIBLE.keys() | names.OWN_NAMES,
        inexpressible=INEXPRESSIBLE,
        legacy=dict(ImageMetaProps._legacy_property_map),  # noqa: SLF001
        read_raw=READ_RAW,
        traits=frozenset(os_traits.get_traits()),
        max_numa_nodes=ImageMetaProps.NUMA_NODES_MAX,
        max_name_bytes=system_metadata.MAX_NAME_BYTES,
        max_value_bytes=system_metadata.MAX_BYTES,
        find_fault=find_fault,
    )


def _find_faults(name: str) -> _FindFault:
    """Return the check of one field."""
    field = ImageMetaProps.fields[name]
    if name in _BY_NAME:
        return _BY_NAME[name]
    if isinstance(field, fields.BaseEnumField):
        return functools.partial(_find_enum_fault, name, field)
    for kind, find in _BY_KIND.items():
        if isinstance(field, kind):
            return find
    return functools.partial(_find_other_fault, name, field)


def _find_enum_fault(
    name: str, field: fields.BaseEnumField, value: str
) -> str | None:
    if _coerces(name, field, value):
        return None
    legal = f"one of {', '.join(field.valid_values)} is allowed"
    other = [
        f"'{value}' is a value of {candidate}"
        for candidate, of in sorted(ImageMetaProps.fields.items())
        if value in getattr(of, "valid_values", ())
    ]
    # many fields have a value such as "virtio": that is no hint
    return f"{legal}; {other[0]}" if len(other) == 1 else legal


def _find_boolean_fault(value: str) -> str | None:
    # FlexibleBooleanField takes any word for false, "yess" too.
    if value.strip().lower() in strutils.TRUE_STRINGS + strutils.FALSE_STRINGS:
        return None
    return "true or false is allowed"


def _find_integer_fault(value: str) -> str | None:
    # Python's int() also takes signs, spaces, underscores, other digits.
    if _DIGITS.fullmatch(value) and int(value) <= _MAX_INTEGER:
        return None
    return f"a whole number from 0 to {_MAX_INTEGER} is allowed"


def _find_uuid_fault(value: str) -> str | None:
    # UUIDField only warns.
    return None if uuidutils.is_uuid_like(value) else "a UUID is allowed"


def _find_cpus_fault(value: str) -> str | None:
    rules = [_CPU_RULE.fullmatch(rule.strip()) for rule in value.split(",")]
    if all(
        rule and max(int(number or 0) for number in rule.groups()) < _MAX_CPUS
        for rule in rules
    ):
        try:
            hardware.parse_cpu_spec(value)
        except exception.Invalid:
            pass
        else:
            return None
    return (
        f"a list of CPUs below {_MAX_CPUS} such as '0-3,^2' is allowed, "
        f"each range from its lesser end"
    )


def _find_page_size_fault(value: str) -> str | None:
    if value in ("small", "large", "any") or _PAGE_SIZE.fullmatch(value):
        return None
    return "small, large, any or a size such as 2MB or 2048 (KiB) is allowed"


def _find_other_fault(
    name: str, field: fields.Field, value: str
) -> str | None:
    if _coerces(name, field, value):
        return None
    if isinstance(field, fields.VersionPredicateField):
        return "a version predicate such as '>=2.6,<3' is allowed"
    return f"{type(field).__name__} does not take it"


def _coerces(name: str, field: fields.Field, value: str) -> bool:
    # what setting the field does, see ImageMetaProps.from_dict
    try:
        field.coerce(None, name, value)
    except (ValueError, TypeError, exception.NovaException):
        return False
    return True


_BY_NAME: dict[str, _FindFault] = {
    "hw_cpu_realtime_mask": _find_cpus_fault,
    "hw_mem_page_size": _find_page_size_fault,
}
_BY_KIND: dict[type, _FindFault] = {
    fields.FlexibleBooleanField: _find_boolean_fault,
    fields.IntegerField: _find_integer_fault,
    fields.UUIDField: _find_uuid_fault,
}
