"""A small host for the tests of the pure part."""

from imprint.properties import names

BUSES = ("ide", "scsi", "virtio")


def find_fault(name, value):
    if name.endswith("_bus") and value not in BUSES:
        return f"one of {', '.join(BUSES)} is allowed"
    if name.startswith("hw_numa_") and not value.isdecimal():
        return "a whole number is allowed"
    return None


VOCABULARY = names.Vocabulary(
    fields=frozenset(
        {
            "hw_architecture",
            "hw_disk_bus",
            "hw_cdrom_bus",
            "hw_numa_nodes",
            "img_signature",
            "os_command_line",
            "os_distro",
            "os_name",
        }
    ),
    inexpressible={"hw_numa_mem": "use hw_numa_mem.0 and so on"},
    legacy={"architecture": "hw_architecture", "vmware_ostype": "os_distro"},
    read_raw=frozenset({"architecture"}),
    traits=frozenset({"HW_CPU_X86_AVX2", "HW_CPU_X86_AVX512F"}),
    max_numa_nodes=128,
    max_name_bytes=100,
    max_value_bytes=255,
    find_fault=find_fault,
)
