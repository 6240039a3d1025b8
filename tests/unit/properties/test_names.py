"""Which names exist, and what is said about those that do not."""

import pytest
from tests.unit.properties.vocabulary import VOCABULARY

from imprint import exceptions
from imprint.properties import names


@pytest.mark.parametrize(
    "name",
    [
        "hw_disk_bus",
        "os_name",
        "hw_numa_cpus.0",
        "hw_numa_mem.127",
        "trait:HW_CPU_X86_AVX2",
        "trait:CUSTOM_LICENSED_1",
    ],
)
def test_a_name_that_exists_is_accepted(name):
    names.check_name(name, VOCABULARY)
    names.check_expressible(name, VOCABULARY)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("architecture", "use hw_architecture"),
        ("vmware_ostype", "use os_distro"),
        ("hw_os_command_line", "use os_command_line"),
        ("hw_diskbus", "did you mean hw_disk_bus"),
        ("HW_DISK_BUS", "'HW_DISK_BUS' is not an image property"),
        ("kernel_id", "'kernel_id' is not an image property"),
        ("", "'' is not an image property"),
        ("hw_numa_cpus.128", "counted from 0 to 127"),
        ("hw_numa_cpus.01", "'hw_numa_cpus.01' is not an image property"),
        ("hw_numa_cpus.-1", "'hw_numa_cpus.-1' is not an image property"),
        ("hw_numa_cpus.٣", "is not an image property"),
        ("hw_numa_cpus.999999999", "counted from 0 to 127"),
        ("trait:", "'' is not a trait"),
        ("trait:HW_CPU_X86_AVX", "did you mean HW_CPU_X86_AVX2"),
        ("trait:CUSTOM_", "'CUSTOM_' is not a trait"),
        ("trait:CUSTOM_lower", "'CUSTOM_lower' is not a trait"),
        ("trait:CUSTOM_X\n", r"'CUSTOM_X\n' is not a trait"),
        ("x" * 101, "at most 100 bytes"),
        ("trait:CUSTOM_" + "X" * 88, "at most 100 bytes"),
        ("hw\0", r"'hw\x00' is not an image property"),
        ("\ud800", r"'\ud800' is not an image property"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_a_hint(name, said):
    with pytest.raises(exceptions.InvalidOverrideError) as refused:
        names.check_name(name, VOCABULARY)
    assert said in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_list_is_refused_as_one_string():
    names.check_name("hw_numa_mem", VOCABULARY)
    with pytest.raises(
        exceptions.InvalidOverrideError, match=r"hw_numa_mem\.0"
    ):
        names.check_expressible("hw_numa_mem", VOCABULARY)


def test_shown_text_is_short():
    assert len(names.show("x" * 5000)) < 90
    assert names.show("x" * 80) == "'" + "x" * 80 + "'"
