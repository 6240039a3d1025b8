"""The life of two real servers with overrides, on one host.

Each lives through its operations in the background while the other does, and
writes down after each what its guest and its domain say; the tests look at
that. The guest ignores the power button: its images say to wait a second.
"""

import contextlib
import dataclasses
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from imprint.cloud import facts
from imprint.cloud.servers import LIMIT, ServerError

RUN = uuid.uuid4().hex[:6]
SINCE = {"OpenStack-API-Version": "compute 2.98, imprint 1.1"}
SATA = {"hw_disk_bus": "sata", "hw_vif_model": "e1000"}
SCSI = {"hw_disk_bus": "scsi", "hw_scsi_model": "virtio-scsi"}
NOTE = f"note-{RUN}"
OWN = {"os_shutdown_timeout": "1", "os_distro": "debian", NOTE: "ours"}
# what Nova's libvirt driver registers with a server
COMPUTED = {
    "hw_machine_type",
    "hw_cdrom_bus",
    "hw_input_bus",
    "hw_pointer_model",
    "hw_video_model",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Moment:
    """What there was to see of a server after one operation."""

    facts: facts.Facts
    buses: list
    nics: list
    shown: dict

    @property
    def boot(self):
        return self.facts.get("boot")

    @property
    def hardware(self):
        """Return what its owner chose, as guest and domain have it."""
        return (
            self.buses,
            self.nics,
            [disk.split()[0] for disk in self.facts.list("disk")],
            [nic.rpartition("driver=")[2] for nic in self.facts.list("nic")],
        )


def look(cloud, server, before=None, status="ACTIVE"):
    """Wait until a guest that was not there before has reported."""
    deadline = time.monotonic() + LIMIT
    while True:
        shown = cloud.show(server)
        if shown["status"] == "ERROR":
            raise ServerError(str(shown.get("fault")))
        if shown["status"] == status and not shown["OS-EXT-STS:task_state"]:
            report = facts.parse(cloud.read_console(server))
            if report.get("ready"):
                assert report.get("boot"), "a guest from before: destroy, up"
                if before is None or report.get("boot") != before.boot:
                    break
        if time.monotonic() > deadline:
            raise ServerError(f"no report in {LIMIT} s: {shown['status']}")
        time.sleep(0.5)
    return describe(cloud, server, report, shown)


def describe(cloud, server, report, shown):
    domain = cloud.read_domain(server)
    return Moment(
        facts=report,
        buses=[
            target.get("bus")
            for target in domain.findall("devices/disk[@device='disk']/target")
        ],
        nics=[
            model.get("type")
            for model in domain.findall("devices/interface/model")
        ],
        shown=shown,
    )


@pytest.fixture(scope="module")
def server(alice, flavors, network):
    """Boots servers of alice's; they are deleted in the end."""
    with contextlib.ExitStack() as leftovers:

        def booter(name, image, override=None):
            made = alice.create_accepted(
                f"{name}-{RUN}",
                image=image,
                flavor=flavors["tiny"],
                network=network,
                override=override,
            )
            leftovers.callback(alice.delete, [made])
            return made

        yield booter


def rebuild(cloud, server, image, **more):
    answer = cloud.connection.compute.post(
        f"/servers/{server}/action",
        json={"rebuild": {"imageRef": image, **more}},
        headers=SINCE,
    )
    assert answer.status_code == 202, answer.text
    return answer.json()["server"]["image_props_override"]


@pytest.fixture(scope="module")
def kept(alice, upload, server):
    """Moments of a server whose overrides stay, whatever is done to it."""

    def live():
        own = upload("own", **OWN)
        rescue = upload(
            "rescue", hw_rescue_bus="virtio", hw_rescue_device="disk"
        )
        one = server("kept", own, SATA)
        yield "boot", (now := look(alice, one))
        alice.act(one, pause=None)
        alice.wait(one, "paused", lambda shown: shown["status"] == "PAUSED")
        alice.act(one, unpause=None)
        shown = alice.wait_active(one)
        report = alice.ask_guest(one, "report", "ready")
        yield "pause", describe(alice, one, report, shown)

        # from here on the image is another one, and then gone
        image = alice.connection.image
        answer = image.patch(
            f"/images/{own}",
            json=[
                {"op": "add", "path": f"/{name}", "value": value}
                for name, value in (
                    ("hw_disk_bus", "ide"),
                    ("hw_vif_model", "rtl8139"),
                )
            ],
            headers={
                "Content-Type": "application/openstack-images-v2.1-json-patch"
            },
        )
        assert answer.status_code == 200, answer.text
        alice.act(one, **{"os-stop": None})
        alice.wait(one, "off", lambda shown: shown["status"] == "SHUTOFF")
        alice.act(one, **{"os-start": None})
        yield "start", (now := look(alice, one, now))
        alice.act(one, rescue={"rescue_image_ref": rescue})
        yield "rescue", look(alice, one, now, status="RESCUE")
        alice.act(one, unrescue=None)
        alice.wait_active(one)
        image.delete_image(own)
        now = look(alice, one)
        alice.act(one, reboot={"type": "HARD"})
        yield "hard reboot", (now := look(alice, one, now))
        alice.act(one, shelve=None)
        alice.wait(
            one,
            "shelved",
            lambda shown: shown["status"] == "SHELVED_OFFLOADED",
        )
        alice.act(one, unshelve=None)
        yield "unshelve", look(alice, one, now)

    return live


@pytest.fixture(scope="module")
def changed(alice, images, upload, server):
    """Moments of a server that is rebuilt, and of one of its snapshot."""

    def live():
        own = upload("rebuilt", **OWN)
        one = server("changed", own)
        yield "boot", (now := look(alice, one))
        assert rebuild(alice, one, own, image_props_override=SCSI) == SCSI
        yield "new overrides", (now := look(alice, one, now))
        assert rebuild(alice, one, own) == SCSI
        yield "same image", (now := look(alice, one, now))
        answer = alice.act(one, createImage={"name": f"snapshot-{RUN}"})
        snapshot = answer.json()["image_id"]
        image = alice.connection.image
        try:
            alice.wait_active(one)
            yield "snapshot", image.get(f"/images/{snapshot}").json()
            two = server("copy", snapshot)
            yield "copy", look(alice, two)
            alice.delete([two])
        finally:
            image.delete_image(snapshot)
        assert rebuild(alice, one, images["tiny"]) == SCSI
        yield "other image", (now := look(alice, one, now))
        assert rebuild(alice, one, own, image_props_override={}) == {}
        yield "no overrides", look(alice, one, now)

    return live


@pytest.fixture(scope="module", autouse=True)
def lives(kept, changed):
    """Both lives at once; returns what was written down of each."""
    with ThreadPoolExecutor(2) as pool:
        futures = [
            pool.submit(lambda live=live: dict(live()))
            for live in (kept, changed)
        ]
        yield [future.result() for future in futures]


@pytest.mark.parametrize(
    "operation", ["boot", "pause", "start", "hard reboot", "unshelve"]
)
def test_a_server_keeps_its_hardware(lives, operation):
    moment = lives[0][operation]
    assert moment.hardware == (["sata"], ["e1000"], ["sda"], ["e1000"])
    assert moment.shown["image_props_override"] == SATA


def test_a_pause_is_no_boot_and_the_others_are(lives):
    kept = lives[0]
    assert kept["boot"].boot == kept["pause"].boot
    boots = [kept[name].boot for name in ("boot", "start", "hard reboot")]
    assert len(set(boots)) == len(boots)


def test_a_stable_rescue_adds_a_disk_to_the_same_hardware(lives):
    moment = lives[0]["rescue"]
    assert moment.buses == ["sata", "virtio"]
    assert moment.nics == ["e1000"]
    disks = sorted(disk.split()[0] for disk in moment.facts.list("disk"))
    assert disks == ["sda", "vda"]


def test_a_server_without_overrides_has_novas_hardware(lives):
    for name in ("boot", "no overrides"):
        moment = lives[1][name]
        assert moment.hardware[:3] == (["virtio"], ["virtio"], ["vda"])
        assert moment.shown["image_props_override"] == {}


@pytest.mark.parametrize(
    "operation", ["new overrides", "same image", "other image"]
)
def test_a_rebuild_moves_the_disk_and_later_ones_leave_it(lives, operation):
    moment = lives[1][operation]
    assert moment.hardware[:3] == (["scsi"], ["virtio"], ["sda"])
    assert moment.shown["image_props_override"] == SCSI


def test_a_snapshot_has_what_was_declared(lives):
    snapshot = lives[1]["snapshot"]
    declared = {**OWN, **SCSI}
    assert {name: snapshot.get(name) for name in declared} == declared
    assert not COMPUTED & snapshot.keys()
    assert not [name for name in snapshot if "imprint" in name]


def test_a_server_of_the_snapshot_has_its_hardware_and_no_overrides(lives):
    moment = lives[1]["copy"]
    assert moment.hardware[:3] == (["scsi"], ["virtio"], ["sda"])
    assert moment.shown["image_props_override"] == {}
