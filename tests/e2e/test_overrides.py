"""Servers of the image "tiny" on the real cloud, each with overrides.

The guests boot in the background, two at once, while what needs no guest is
tested; a test that needs one waits for it.
"""

import contextlib
import dataclasses
import pathlib
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from imprint.cloud import facts
from imprint.cloud.servers import ServerError, read_fault

RUN = uuid.uuid4().hex[:6]
LINE = "console=ttyS0 inst.ks=http://h/a?x=1"
PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Booted:
    """A server whose guest is up, and all there is to see of it."""

    id: str
    shown: dict
    facts: facts.Facts
    domain: object


def has_huge_pages():
    # 96 of 2 MiB are the memory of the flavor tiny.pages.
    return int((PAGES / "free_hugepages").read_text()) >= 96


PLANS = {
    # name: (tenant, flavor, override)
    "line": ("alice", "tiny", {"os_command_line": LINE}),
    "uefi": (
        "alice",
        "tiny",
        {"hw_firmware_type": "uefi", "hw_machine_type": "q35"},
    ),
    "sata": (
        "alice",
        "tiny",
        {"hw_disk_bus": "sata", "hw_vif_model": "e1000"},
    ),
    "agent": ("bob", "tiny", {"hw_qemu_guest_agent": "yes"}),
    "pages": (
        "alice",
        "tiny.pages",
        {
            "hw_disk_bus": "scsi",
            "hw_scsi_model": "virtio-scsi",
            "hw_numa_nodes": "1",
        },
    ),
}


@pytest.fixture(scope="session")
def ask(images, flavors, network):
    """Ask for a server of the image tiny as a tenant; return the answer."""

    def asker(cloud, name, override=None, *, flavor="tiny", **more):
        body = {"image": images["tiny"], "network": network, **more}
        return cloud.create(
            f"{name}-{RUN}",
            flavor=flavors[flavor],
            override=override,
            **body,
        )

    return asker


@pytest.fixture(scope="session")
def accepted(ask):
    """Servers that Nova took, deleted in the end; returns their ids."""
    with contextlib.ExitStack() as leftovers:

        def asker(cloud, *arguments, **more):
            answer = ask(cloud, *arguments, **more)
            assert answer.status_code == 202, answer.text
            server = answer.json()["server"]["id"]
            leftovers.callback(cloud.delete, [server])
            return server

        yield asker


@pytest.fixture(scope="session")
def described(admin, images):
    """What Glance says of the cloud's images before any server is made."""
    return describe_images(admin, images)


def describe_images(admin, images):
    answer = admin.connection.image.get("/images")
    found = {image["id"]: image for image in answer.json()["images"]}
    return {name: found[image] for name, image in images.items()}


@pytest.fixture(scope="session", autouse=True)
def guests(accepted, alice, bob, described):
    """Boots PLANS; returns a function that waits for one by its name."""
    tenants = {"alice": alice, "bob": bob}

    def boot(name):
        tenant, flavor, override = PLANS[name]
        if name == "pages" and has_huge_pages():
            override = {**override, "hw_mem_page_size": "2MB"}
        cloud = tenants[tenant]
        server = accepted(cloud, name, override, flavor=flavor)
        console = cloud.wait_console(server, facts.READY)
        return Booted(
            id=server,
            shown=cloud.show(server),
            facts=facts.parse(console),
            domain=cloud.read_domain(server),
        )

    with ThreadPoolExecutor(2) as pool:
        futures = {name: pool.submit(boot, name) for name in PLANS}
        yield lambda name: futures[name].result()
        pool.shutdown(cancel_futures=True)


REFUSED = {
    "wrong-value": (
        {"hw_disk_bus": "virtio-scsi"},
        400,
        ["hw_disk_bus", "'virtio-scsi'", "sata", "hw_scsi_model"],
    ),
    "proposal-name": (
        {"hw_os_command_line": LINE},
        400,
        ["hw_os_command_line", "os_command_line"],
    ),
    "unknown-name": ({"hw_disc_bus": "scsi"}, 400, ["hw_disc_bus"]),
    "empty-name": ({"": "scsi"}, 400, []),
    "second-of-two": (
        {"hw_vif_model": "e1000", "hw_cdrom_bus": "floppy"},
        400,
        ["hw_cdrom_bus", "'floppy'"],
    ),
    "not-a-string": ({"hw_numa_nodes": 1}, 400, ["hw_numa_nodes"]),
    "null": ({"hw_disk_bus": None}, 400, ["hw_disk_bus"]),
    "nested": ({"hw_disk_bus": {"a": "b"}}, 400, ["hw_disk_bus"]),
    "not-a-number": (
        {"hw_numa_nodes": "one"},
        400,
        ["hw_numa_nodes", "'one'"],
    ),
    "too-long": ({"os_command_line": "x" * 256}, 400, ["os_command_line"]),
    "too-long-in-bytes": (
        {"os_command_line": "\u00e9" * 128},
        400,
        ["os_command_line"],
    ),
    "too-many": ({f"hw_x{n}": "1" for n in range(65)}, 400, ["65", "64"]),
    "numa-gap": (
        {"hw_numa_nodes": "1", "hw_numa_cpus.1": "0"},
        400,
        ["hw_numa_cpus"],
    ),
    "broken-numa": (
        {"hw_numa_nodes": "1", "hw_numa_cpus.0": "a-b"},
        400,
        ["hw_numa_cpus.0"],
    ),
    "denied-signature": ({"img_signature": "x"}, 403, ["img_signature"]),
    "denied-trait": (
        {"trait:HW_CPU_X86_AVX2": "required"},
        403,
        ["trait:HW_CPU_X86_AVX2"],
    ),
    "denied-beside-allowed": (
        {"hw_disk_bus": "scsi", "os_secure_boot": "required"},
        403,
        ["os_secure_boot"],
    ),
    # The flavor tiny says nothing of pages: they are not the user's choice.
    "not-in-the-flavor": (
        {"hw_mem_page_size": "2MB"},
        400,
        ["forbidden"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_why_and_creates_nothing(alice, ask, name):
    override, status, words = REFUSED[name]
    answer = ask(alice, name, override)
    message = read_fault(answer)
    assert answer.status_code == status, message
    assert [word for word in words if word not in message] == []
    servers = alice.connection.compute.servers(name=f"{name}-{RUN}")
    assert list(servers) == []


@pytest.mark.parametrize("override", [[], "hw_disk_bus=scsi", 1, True, None])
def test_overrides_that_are_no_object_are_refused(
    alice, override, images, flavors, network
):
    server = {
        "name": f"no-object-{RUN}",
        "imageRef": images["tiny"],
        "flavorRef": flavors["tiny"],
        "networks": [{"uuid": network}],
        "image_props_override": override,
    }
    answer = alice.connection.compute.post("/servers", json={"server": server})
    assert answer.status_code == 400, answer.text
    assert "image_props_override" in read_fault(answer)
    there = alice.connection.compute.servers(name=server["name"])
    assert list(there) == []


@pytest.fixture
def disk_image(alice):
    """A private image that boots from its disk, without a kernel."""
    image = alice.connection.image
    body = {"disk_format": "raw", "container_format": "bare"}
    made = image.post("/images", json={"name": f"disk-{RUN}", **body}).json()
    image.put(
        f"/images/{made['id']}/file",
        data=bytes(1 << 20),
        headers={"Content-Type": "application/octet-stream"},
    )
    yield made["id"]
    image.delete_image(made["id"])


def test_a_command_line_without_a_kernel_is_refused(alice, ask, disk_image):
    answer = ask(
        alice, "kernelless", {"os_command_line": LINE}, image=disk_image
    )
    assert answer.status_code == 400
    assert "kernel_id" in read_fault(answer)
    there = alice.connection.compute.servers(name=f"kernelless-{RUN}")
    assert list(there) == []


def test_the_guest_prints_its_own_command_line_byte_for_byte(guests):
    booted = guests("line")
    assert booted.facts.get("cmdline") == LINE
    assert booted.domain.findtext("os/cmdline") == LINE


def test_the_owner_sees_the_overrides_and_what_they_make(guests):
    shown = guests("line").shown
    assert shown["image_props_override"] == {"os_command_line": LINE}
    assert shown["image"]["properties"]["os_command_line"] == LINE


def test_a_client_that_knows_nothing_of_imprint_sees_novas_answer(
    guests, alice
):
    answer = alice.connection.compute.get(
        f"/servers/{guests('line').id}",
        headers={"OpenStack-API-Version": "compute 2.98"},
    )
    server = answer.json()["server"]
    assert "image_props_override" not in server
    assert server["image"]["properties"]["os_command_line"] == LINE


def test_another_tenant_sees_no_server_and_no_override(guests, bob):
    with pytest.raises(ServerError, match="404"):
        bob.show(guests("line").id)


def test_a_disk_on_sata_and_an_intel_nic(guests):
    booted = guests("sata")
    target = booted.domain.find("devices/disk[@device='disk']/target")
    assert target.get("bus") == "sata"
    (disk,) = booted.facts.list("disk")
    assert disk.startswith("sda bytes=1073741824")
    assert "/ata" in disk
    (nic,) = booted.facts.list("nic")
    assert nic.endswith("driver=e1000")
    assert "8086:100e" in booted.facts.pci_ids
    (lease,) = booted.facts.list("lease")
    assert lease.startswith("eth0 10.88.0.")


def test_uefi_on_q35_boots(guests):
    booted = guests("uefi")
    assert booted.domain.find("os").get("firmware") == "efi"
    assert "OVMF" in booted.domain.findtext("os/loader")
    assert "q35" in booted.domain.find("os/type").get("machine")
    assert booted.facts.get("firmware") == "efi"
    assert "8086:29c0" in booted.facts.pci_ids
    # The image's own command line; UEFI's loader adds where the initramfs is.
    assert booted.facts.get("cmdline").startswith("console=ttyS0 quiet")


def test_a_guest_agent_for_a_tenant_that_does_not_own_the_image(guests):
    booted = guests("agent")
    assert booted.facts.list("port") == ["org.qemu.guest_agent.0"]
    channel = booted.domain.find("devices/channel/target")
    assert channel.get("name") == "org.qemu.guest_agent.0"


def test_scsi_numa_and_huge_pages_in_one_server(guests):
    booted = guests("pages")
    target = booted.domain.find("devices/disk[@device='disk']/target")
    assert target.get("bus") == "scsi"
    controller = booted.domain.find("devices/controller[@type='scsi']")
    assert controller.get("model") == "virtio-scsi"
    assert len(booted.domain.findall("cpu/numa/cell")) == 1
    assert booted.facts.get("numa-nodes") == "0"
    assert booted.facts.list("disk")[0].startswith("sda ")
    if "hw_mem_page_size" in booted.shown["image_props_override"]:
        page = booted.domain.find("memoryBacking/hugepages/page")
        assert (page.get("size"), page.get("unit")) == ("2048", "KiB")
    else:
        # A host that has pages must have lent them.
        assert int((PAGES / "nr_hugepages").read_text()) < 96


def test_two_servers_of_one_request_have_the_same_overrides(accepted, alice):
    line = f"console=ttyS0 quiet twins={RUN}"
    accepted(alice, "twin", {"os_command_line": line}, min_count=2)
    prefix = f"twin-{RUN}"
    twins = list(alice.connection.compute.servers(name=prefix))
    assert len(twins) == 2
    try:
        for twin in twins:
            shown = alice.wait_active(twin.id)
            assert shown["image_props_override"] == {"os_command_line": line}
            domain = alice.read_domain(twin.id)
            assert domain.findtext("os/cmdline") == line
    finally:
        alice.delete(twin.id for twin in twins)


def test_more_numa_nodes_than_the_host_has_end_in_a_fault(accepted, alice):
    server = accepted(
        alice, "numa2", {"hw_numa_nodes": "2"}, flavor="tiny.vcpus2"
    )
    with pytest.raises(ServerError, match="hosts"):
        alice.wait_active(server)
    alice.delete([server])


def test_overrides_last_through_snapshot_reboot_and_rebuild(
    guests, accepted, alice, images
):
    booted = guests("line")
    answer = alice.act(booted.id, createImage={"name": f"snap-{RUN}"})
    snapshot = answer.json()["image_id"]
    try:
        alice.wait_active(booted.id)
        wait_image(alice, snapshot)
        server = accepted(
            alice, "copy", {"hw_vif_model": "e1000"}, image=snapshot
        )
        alice.wait_active(server)
        domain = alice.read_domain(server)
        nic = domain.find("devices/interface/model")
        assert nic.get("type") == "e1000"
        # What the first server was given is part of its snapshot.
        assert domain.findtext("os/cmdline") == LINE
        alice.delete([server])
    finally:
        alice.connection.image.delete_image(snapshot)

    alice.act(booted.id, reboot={"type": "HARD"})
    alice.wait_active(booted.id)
    domain = alice.read_domain(booted.id)
    assert domain.findtext("os/cmdline") == LINE

    alice.act(booted.id, rebuild={"imageRef": images["tiny"]})
    console = alice.wait_console(booted.id, facts.READY)
    assert facts.parse(console).get("cmdline") == LINE
    shown = alice.show(booted.id)
    assert shown["image_props_override"] == {"os_command_line": LINE}


def wait_image(cloud, image):
    """Wait for the data of a snapshot; raises when it fails or is late."""
    glance = cloud.connection.image
    glance.wait_for_status(
        glance.get_image(image),
        status="active",
        failures=["killed", "deleted"],
        interval=1,
        wait=180,
    )


def test_no_image_was_changed_by_any_server(guests, admin, images, described):
    for name in PLANS:
        guests(name)
    assert describe_images(admin, images) == described


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("compute 2.98, imprint 1.0", 200),
        ("compute 2.98, imprint 9.9", 406),
        ("compute 2.98", 200),
    ],
)
def test_a_version_is_negotiated_or_refused(alice, header, status):
    answer = alice.connection.compute.get(
        "/servers", headers={"OpenStack-API-Version": header}
    )
    assert answer.status_code == status
    if "imprint" in header and status == 200:
        assert "imprint 1.0" in answer.headers["OpenStack-API-Version"]
