"""Servers whose hardware follows from their operating system, os_name.

The guests boot in the background, two at once. Each is "tiny": what it sees
is what its system would see. A test waits for the guest that it needs.
"""

import contextlib
import dataclasses
import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from imprint.cloud import facts
from imprint.cloud.computes import FIRST
from imprint.cloud.demo.systems import read_timers

RUN = uuid.uuid4().hex[:6]
OWN = "http://imprint.example/os/1"
OWN_FILE = "/etc/osinfo/os/imprint.example/os-1.xml"
OWN_XML = f"""\
<libosinfo version="0.0.1">
  <os id="{OWN}">
    <short-id>imprint-e2e-1</short-id>
    <devices>
      <device id="http://pcisig.com/pci/1022/2000"/>
    </devices>
  </os>
</libosinfo>
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A server: what is asked for, and what guest and domain must have."""

    image: dict = dataclasses.field(default_factory=dict)
    override: dict = dataclasses.field(default_factory=dict)
    machine: str = "i440fx"
    disk: str
    nic: str
    clock: str = "utc"

    @property
    def declared(self):
        return self.image | self.override

    @property
    def devices(self):
        """Bus of the disk and model of the NIC, as libvirt has them."""
        return DISKS[self.disk], NICS[self.nic]


# what the guest says, and what libvirt calls it
DISKS = {
    "vda virtio-pci": "virtio",
    "sda ata_piix": "ide",
    "sda ahci": "sata",
}
NICS = {
    "1af4:1000 virtio-pci": "virtio",
    "8086:100e e1000": "e1000",
    "8086:10d3 e1000e": "e1000e",
    "1022:2000 pcnet32": "pcnet",
}
VIRTIO = {"disk": "vda virtio-pci", "nic": "1af4:1000 virtio-pci"}
E1000E = {"nic": "8086:10d3 e1000e", "clock": "localtime"}
PLANS = {
    # os_distro is for others: it decides nothing and is left as it is
    "ubuntu22.04": Plan(
        override={"os_name": "ubuntu22.04"},
        image={"os_distro": "windows"},
        **VIRTIO,
    ),
    "winxp": Plan(
        override={"os_name": "winxp"},
        disk="sda ata_piix",
        nic="8086:100e e1000",
        clock="localtime",
    ),
    "win2k19": Plan(
        image={"os_name": "win2k19"}, disk="sda ata_piix", **E1000E
    ),
    "declared": Plan(
        image={"os_name": "win2k19"},
        override={"hw_disk_bus": "virtio"},
        disk="vda virtio-pci",
        **E1000E,
    ),
    "drivers": Plan(
        override={"os_name": "win2k19", "hw_virtio_drivers": "yes"},
        clock="localtime",
        **VIRTIO,
    ),
    "win11": Plan(
        override={"os_name": "win11", "hw_machine_type": "q35"},
        machine="q35",
        disk="sda ahci",
        **E1000E,
    ),
    "hidden": Plan(
        image={"os_name": "win10", "img_hide_hypervisor_id": "true"},
        disk="sda ata_piix",
        **E1000E,
    ),
    "freebsd13.1": Plan(override={"os_name": "freebsd13.1"}, **VIRTIO),
    "own": Plan(
        override={"os_name": "imprint-e2e-1"},
        disk="sda ata_piix",
        nic="1022:2000 pcnet32",
    ),
    "unknown": Plan(override={"os_name": f"no-such-{RUN}"}, **VIRTIO),
}
KNOWN = [name for name in PLANS if name != "unknown"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Booted:
    """A server whose guest is up, and all there is to see of it."""

    id: str
    facts: facts.Facts
    domain: object
    properties: dict

    @property
    def devices(self):
        target = self.domain.find("devices/disk[@device='disk']/target")
        model = self.domain.find("devices/interface/model")
        return target.get("bus"), model.get("type")

    @property
    def timers(self):
        return read_timers(self.domain)


@pytest.fixture(scope="module")
def own_system(alice):
    """Describes a system in the root's /etc/osinfo, as its administrator."""
    script = 'mkdir -p "$(dirname "$1")"; printf %s "$2" >"$1"'
    alice.run(FIRST, "sh", "-ec", script, "sh", OWN_FILE, OWN_XML)
    yield
    alice.run(FIRST, "rm", OWN_FILE)


@pytest.fixture(scope="module", autouse=True)
def guests(alice, images, flavors, network, upload, own_system):
    """Boots PLANS; returns a function that waits for one by its name."""
    made = []
    with contextlib.ExitStack() as leftovers:
        leftovers.callback(alice.delete, made)

        def boot(name):
            plan = PLANS[name]
            image = images["tiny"]
            if plan.image:
                image = upload(name, **plan.image)
            server = alice.create_accepted(
                f"{name}-{RUN}",
                image=image,
                flavor=flavors["tiny"],
                network=network,
                override=plan.override,
            )
            made.append(server)
            console = alice.wait_console(server, facts.READY)
            return Booted(
                id=server,
                facts=facts.parse(console),
                domain=alice.read_domain(server),
                properties=alice.read_properties(server),
            )

        with ThreadPoolExecutor(2) as pool:
            futures = {name: pool.submit(boot, name) for name in PLANS}
            yield lambda name: futures[name].result()
            pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", PLANS)
def test_a_guest_sees_the_devices_of_its_system(guests, name):
    plan, booted = PLANS[name], guests(name)
    assert booted.facts.disks == [plan.disk]
    assert booted.facts.nics == [plan.nic]
    assert plan.machine in booted.facts.get("machine")
    assert booted.devices == plan.devices
    assert booted.domain.find("clock").get("offset") == plan.clock


def explain(cloud, os_name, declared, virt_type):
    """Ask in the root what a server gets; values by part and name."""
    command = ["imprint-manage", "os", "explain", os_name]
    for name, value in declared.items():
        command += ["--property", f"{name}={value}"]
    printed = cloud.run(
        FIRST, *command, "--virt-type", virt_type, "-f", "json"
    )
    parts = {}
    for row in json.loads(printed):
        part = parts.setdefault(row["Part"], {})
        part[row["Name"]] = row["Value"]
    return parts


@pytest.mark.parametrize("name", KNOWN)
def test_a_server_has_what_is_explained(alice, guests, name):
    plan, booted = PLANS[name], guests(name)
    declared = dict(plan.declared)
    explained = explain(
        alice,
        declared.pop("os_name"),
        declared,
        booted.domain.get("type"),
    )
    assert explained["property"] == {
        key: shown["value"]
        for key, shown in booted.properties.items()
        if shown["origin"] == "osinfo"
    }
    assert explained["clock"] == {"offset": plan.clock}
    timers = explained["timer"]
    assert booted.timers == timers
    if timers.get("hpet") == "off":
        assert "hpet" not in booted.facts.get("clock-sources")
    enlightened = {
        feature.tag for feature in booted.domain.findall("features/hyperv/*")
    }
    assert explained.get("Hyper-V", {}).keys() <= enlightened


def test_what_was_declared_is_not_the_systems(guests):
    shown = guests("declared").properties
    assert shown["hw_disk_bus"] == {"value": "virtio", "origin": "override"}
    assert shown["os_name"] == {"value": "win2k19", "origin": "image"}
    assert shown["hw_vif_model"] == {"value": "e1000e", "origin": "osinfo"}
    shown = guests("win11").properties
    assert shown["hw_machine_type"] == {"value": "q35", "origin": "override"}


def test_another_softwares_name_of_the_system_is_left_alone(guests):
    shown = guests("ubuntu22.04").properties
    assert shown["os_distro"] == {"value": "windows", "origin": "image"}


def test_a_hypervisor_is_hidden_from_a_windows(guests):
    features = guests("hidden").domain.find("features")
    assert features.find("kvm/hidden").get("state") == "on"


def test_an_unknown_name_has_novas_defaults_and_one_warning(guests, directory):
    booted = guests("unknown")
    name = PLANS["unknown"].override["os_name"]
    assert booted.properties["os_name"]["origin"] == "override"
    assert "osinfo" not in {
        shown["origin"] for shown in booted.properties.values()
    }
    warnings = [
        line
        for log in (directory / "logs").glob("nova-compute*.log")
        for line in log.read_text(errors="replace").splitlines()
        if "WARNING" in line and name in line
    ]
    (warning,) = warnings
    assert booted.id in warning


@pytest.mark.parametrize("name", ["debian11", "rocky9", "openbsd7.2"])
def test_a_system_with_virtio_gets_it_whatever_else_it_knows(alice, name):
    chosen = explain(alice, name, {}, "kvm")["property"]
    assert chosen["hw_disk_bus"] == "virtio"
    assert chosen["hw_vif_model"] == "virtio"
