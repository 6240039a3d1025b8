"""The whole domain of each kind of guest, as libvirt gets it.

``--regenerate`` writes the files in tests/data/domains anew; the diff is for
review.

The systems are those of the installed libosinfo database, not made for the
test: what is recorded is then what a user gets, gaps of the database and
fallbacks included, and a rule that leans on a fact that the database does not
have cannot pass.  All of them are named by version.  Databases of 2022 (which
has no OpenBSD 7.2) and 2025 give the same files; where a newer one does not,
that is a change for servers too, and wants a look.
"""

import difflib
import pathlib
import re

import pytest
from lxml import etree
from nova import context as nova_context
from nova import objects, utils
from nova.compute import vm_states
from tests.functional.case import IMAGE
from tests.functional.libvirt import case, osinfo

from imprint.hardware import files, rule, schema
from imprint.hardware.conditions import list_names
from imprint.osinfo import search_path

RECORDS = pathlib.Path(__file__).resolve().parents[2] / "data" / "domains"

#: has Nova's defaults on every host
UNKNOWN = "no-such-system"
#: a file for each, on every host: the properties of the image
GUESTS = {
    name.rpartition("//")[2].replace("/", "-"): {"os_name": name}
    for name in (
        *("winxp", "win2k3", "win7", "win10", "win11", "win2k19", "win2k22"),
        *("http://fedoraproject.org/fedora/21", "fedora36", "ubuntu22.04"),
        *("debian11", "rhel6.9", "rhel9.0", "opensuse15.4", "freebsd13.1"),
        *("openbsd7.2", "netbsd9.0", "haikur1beta3", "solaris11"),
        *("msdos6.22", "rocky9", UNKNOWN),
    )
}
#: likewise, on one host only
OTHERS = {
    "win98": {"os_name": "win98"},
    "freebsd7.4": {"os_name": "freebsd7.4"},
    "appliance1": {"os_name": "appliance1"},
    "fedora36-scsi": {"os_name": "fedora36", "hw_disk_bus": "scsi"},
    "fedora36-no-drivers": {
        "os_name": "fedora36",
        "hw_virtio_drivers": "no",
    },
    "win10-os-type": {"os_name": "win10", "os_type": "windows"},
    "win2k19-virtio": {"os_name": "win2k19", "hw_disk_bus": "virtio"},
    "win2k19-drivers": {"os_name": "win2k19", "hw_virtio_drivers": "yes"},
    "rhel6.9-on-q35": {"os_name": "rhel6.9", "hw_machine_type": "q35"},
    "winxp-on-q35": {"os_name": "winxp", "hw_machine_type": "q35"},
}

#: an operator's own system, beside those of the database
APPLIANCE = {
    "appliance1": (
        "http://example.org/appliance/1",
        "appliance",
        "appliance",
        "1",
        "2010-01-01",
        ("rtl8139",),
    )
}


def render(domain):
    """Return a domain without what differs between two servers."""
    tree = domain.tree
    for path in ("name", "uuid", "metadata", "sysinfo"):
        tree.remove(tree.find(path))
    text = etree.tostring(tree, pretty_print=True).decode()
    return re.sub(r'"/[^"]*/[0-9a-f-]{36}/', '"/instances/', text)


def compare(expected, found):
    """Return the difference of two texts as lines, "" for none."""
    return "\n".join(
        difflib.unified_diff(
            expected.splitlines(), found.splitlines(), lineterm="", n=8
        )
    )


class Domains:
    """Boots each guest on one kind of host; stands first in bases."""

    machine_type = None
    guests = GUESTS

    @pytest.fixture(autouse=True)
    def _options(self, pytestconfig):
        type(self).regenerate = pytestconfig.getoption("regenerate")

    def setUp(self):
        super().setUp()
        database = self.make_directory()
        osinfo.write_database(database, APPLIANCE)
        self.flags(
            osinfo_dirs=[str(search_path.SYSTEM), database],
            group="imprint",
        )
        self.flags(
            hw_machine_type=[f"x86_64={self.machine_type}"], group="libvirt"
        )
        self.start_host()

    def build(self, server, properties):
        """Return the domain of a guest whose image has these properties.

        As nova-compute builds one, in its order, on the host and with the
        port of a server that is there: the API and the scheduler take a
        second for each.
        """
        manager = self.computes["compute1"].manager
        instance = self.instance(server)
        image = self.glance.images[IMAGE]
        image = {**image, "properties": {**image["properties"], **properties}}
        instance.system_metadata = utils.get_system_metadata_from_image(image)
        image_meta = objects.ImageMeta.from_dict(image)
        instance.os_type = properties.get("os_type")
        instance.root_device_name = None
        instance.vm_state = vm_states.BUILDING
        mappings = self.mappings(server)
        for mapping in mappings:
            mapping.disk_bus = mapping.device_name = None
        manager.driver.prepare_for_spawn(instance)
        manager._default_block_device_names(instance, image_meta, mappings)
        context = nova_context.get_admin_context()
        disks = manager._prep_block_device(context, instance, mappings)
        self.domains.clear()
        manager.driver.spawn(
            context,
            instance,
            image_meta,
            injected_files=[],
            admin_password=None,
            allocations={},
            network_info=instance.get_network_info(),
            block_device_info=disks,
        )
        return self.domain(server)

    def test_each_guest_has_the_domain_of_its_file(self):
        directory = RECORDS / f"{self.virt_type}-{self.machine_type}"
        server = self.boot({"os_name": "win2k19"}, networks="auto")
        found = {"win2k19": render(self.domain(server))}
        for name, properties in self.guests.items():
            domain = render(self.build(server, properties))
            # the one that went through the API is no other
            self.assertEqual("", compare(found.get(name, domain), domain))
            found[name] = domain
        if self.regenerate:
            directory.mkdir(parents=True, exist_ok=True)
            for path in directory.iterdir():
                path.unlink()
            for name, domain in found.items():
                (directory / f"{name}.xml").write_text(domain)
        recorded = {
            path.stem: path.read_text() for path in directory.iterdir()
        }
        self.assertEqual(found.keys(), recorded.keys())
        for name, domain in found.items():
            self.assertEqual("", compare(recorded[name], domain), name)


class TestPcWithKvm(Domains, case.LibvirtCase):
    machine_type = "pc"
    guests = GUESTS | OTHERS


class TestQ35WithKvm(Domains, case.LibvirtCase):
    machine_type = "q35"


class TestPcWithoutKvm(Domains, case.LibvirtCase):
    machine_type = "pc"
    virt_type = "qemu"


class TestQ35WithoutKvm(Domains, case.LibvirtCase):
    machine_type = "q35"
    virt_type = "qemu"


HOSTS = ("kvm-pc", "kvm-q35", "qemu-pc", "qemu-q35")

#: where an image property that a rule can choose is in the domain
PLACES = {
    "hw_disk_bus": ("devices/disk/target", "bus"),
    "hw_input_bus": ("devices/input", "bus"),
    "hw_machine_type": ("os/type", "machine"),
    "hw_pointer_model": ("devices/input", "type"),
    "hw_scsi_model": ("devices/controller[@type='scsi']", "model"),
    "hw_video_model": ("devices/video/model", "type"),
    "hw_vif_model": ("devices/interface/model", "type"),
}


def read(host, name):
    return case.Domain((RECORDS / host / f"{name}.xml").read_text())


def part(domain, path):
    element = domain.tree.find(path)
    return None if element is None else etree.tostring(element)


def disk_and_nic(domain):
    return domain.disk_buses + domain.values("devices/interface/model", "type")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    "name", ["ubuntu22.04", "debian11", "rocky9", "freebsd13.1", "openbsd7.2"]
)
def test_virtio_is_not_a_matter_of_what_is_listed_first(host, name):
    """As Nova takes it: https://bugs.launchpad.net/nova/+bug/1835400."""
    assert disk_and_nic(read(host, name)) == ["virtio", "virtio"]


@pytest.mark.parametrize(
    ("host", "bus"), [("kvm-pc", "ide"), ("kvm-q35", "sata")]
)
def test_os_name_alone_makes_a_windows_server_boot_and_run_well(host, bus):
    domain = read(host, "win2k19")
    assert disk_and_nic(domain) == [bus, "e1000e"]
    assert domain.values("clock", "offset") == ["localtime"]
    assert "hypervclock" in domain.values("clock/timer", "name")
    assert len(domain.tree.findall("features/hyperv/*")) == len(
        next(
            each
            for each in files.load().rules
            if each.name == "windows-hyperv"
        ).hyperv
    )


def test_a_declared_disk_bus_changes_the_disk_and_nothing_else():
    alone = (RECORDS / "kvm-pc" / "win2k19.xml").read_text()
    declared = (RECORDS / "kvm-pc" / "win2k19-virtio.xml").read_text()
    assert declared == alone.replace(
        '<target dev="hda" bus="ide"/>', '<target dev="vda" bus="virtio"/>'
    )


def test_os_type_adds_nothing_to_os_name():
    alone, both = (read("kvm-pc", name) for name in ("win10", "win10-os-type"))
    for path in ("clock", "features"):
        assert part(alone, path) == part(both, path)


@pytest.mark.parametrize("host", ["qemu-pc", "qemu-q35"])
def test_without_kvm_no_guest_has_what_only_kvm_gives(host):
    for path in (RECORDS / host).iterdir():
        domain = read(host, path.stem)
        assert domain.tree.find("features/hyperv") is None, path.stem
        assert not {"hypervclock", "kvmclock"}.intersection(
            domain.values("clock/timer", "name")
        ), path.stem


@pytest.mark.parametrize("host", HOSTS)
def test_no_guest_has_a_disk_bus_that_its_machine_has_not(host):
    for path in (RECORDS / host).iterdir():
        domain = read(host, path.stem)
        assert (domain.machine, domain.disk_buses) != ("q35", ["ide"])


def list_chosen():
    """List all that the rules can choose for a guest of these hosts."""
    for each in files.load().rules:
        if not any(
            "x86_64" in list_names(table.get("arch", "x86_64"))
            for table in each.match
        ):
            continue
        for name, preferences in each.properties.items():
            for preference in preferences:
                if preference.value != rule.DEFAULT:
                    yield name, preference.value
        if each.clock_offset:
            yield "clock", each.clock_offset
        for name, settings in each.timers.items():
            if settings:
                yield "timer", name
        for name in each.hyperv:
            yield "hyperv", name


def list_recorded():
    for host in HOSTS:
        for path in (RECORDS / host).iterdir():
            if path.stem == UNKNOWN:
                continue
            domain = read(host, path.stem)
            for name, place in PLACES.items():
                for value in domain.values(*place):
                    # the host's own machine type is not chosen
                    if not host.endswith(f"-{value}"):
                        yield name, value
            for value in domain.values("clock", "offset"):
                yield "clock", value
            for value in domain.values("clock/timer", "name"):
                yield "timer", value
            for element in domain.tree.findall("features/hyperv/*"):
                yield "hyperv", element.tag


def test_each_choice_that_a_rule_can_make_is_in_a_file():
    # Nova's driver reads os_type, libvirt does not get it
    assert PLACES.keys() == set(schema.PROPERTIES) - {"os_type"}
    chosen = {each for each in list_chosen() if each[0] != "os_type"}
    assert chosen - set(list_recorded()) == set()
