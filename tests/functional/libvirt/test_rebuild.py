"""Rebuild with other overrides, or other image: all that Nova keeps agrees."""

from unittest import mock

from tests.functional.case import IMAGE, OTHER_IMAGE
from tests.functional.libvirt import case

BASE = {"hw_machine_type": "q35", "os_type": "linux"}
SATA = {"hw_disk_bus": "sata", **BASE}
SCSI = {"hw_disk_bus": "scsi", "hw_video_model": "vga", **BASE}


class RebuildCase(case.LibvirtCase):
    negotiated = "compute 2.104, imprint 1.1"

    def setUp(self):
        super().setUp()
        self.start_host()

    def rebuild(self, server, overrides=None, image=IMAGE):
        """Rebuild; return the domain that the server got."""
        body = {"imageRef": image}
        if overrides is not None:
            body["image_props_override"] = overrides
        del self.domains[server["id"]]
        # the fixture sends no event of Cinder
        with mock.patch(
            "nova.compute.manager.ComputeVirtAPI.wait_for_instance_event"
        ):
            answer = self.request(
                "POST",
                f"/servers/{server['id']}/action",
                {"rebuild": body},
            )
            self.assertEqual(202, answer.status_code, answer.text)
            self._wait_for_state_change(server, "ACTIVE")
        return self.domain(server)

    def assertAgree(self, server, machine, bus, name, video=None):
        """Domain, database and request spec say the same, and stay so."""
        instance = self.instance(server)
        effective = instance.image_meta.properties
        declared = self.request_spec(server).image.properties
        recorded = {
            key.removeprefix("imprint_override:"): value
            for key, value in instance.system_metadata.items()
            if key.startswith("imprint_override:")
        }
        self.assertEqual(bus, effective.hw_disk_bus)
        self.assertEqual(machine, effective.hw_machine_type)
        for key, value in recorded.items():
            self.assertEqual(value, declared.get(key))
            self.assertEqual(value, effective.get(key))
        for key in ("hw_disk_bus", "hw_video_model", "hw_machine_type"):
            if declared.get(key) is not None:
                self.assertEqual(declared.get(key), effective.get(key))
        self.assertAligned(server, (bus, name))
        domain = self.domain(server)
        self.assertEqual(machine, domain.machine)
        if video is not None:
            self.assertEqual(
                [video], domain.values("devices/video/model", "type")
            )

    def assertAllPaths(self, server):
        """Walk a server through every way to rebuild it."""
        self.rebuild(server)
        self.assertAgree(server, "q35", "sata", "sda")
        self.rebuild(server, SCSI)
        self.assertAgree(server, "q35", "scsi", "sda", "vga")
        self.rebuild(server, SATA, image=OTHER_IMAGE)
        self.assertAgree(server, "q35", "sata", "sda")
        self.rebuild(server, image=OTHER_IMAGE)
        self.assertAgree(server, "q35", "sata", "sda")
        self.rebuild(server, {})
        self.assertAgree(server, "pc", "virtio", "vda")
        self.rebuild(server, {"hw_disk_bus": "ide"})
        self.assertAgree(server, "pc", "ide", "hda")
        self.flags(on_rebuild="drop", group="image_props_override")
        self.rebuild(server)
        self.assertAgree(server, "pc", "virtio", "vda")


class TestRebuild(RebuildCase):
    def test_all_agrees_after_every_rebuild_of_an_image(self):
        self.assertAllPaths(self.boot(SATA))

    def test_all_agrees_after_every_rebuild_of_a_volume(self):
        """Nova rebuilds a root volume since microversion 2.93."""
        self.assertAllPaths(self.boot_volume(SATA))

    def test_the_bus_of_the_image_is_back_without_the_override(self):
        self.set_image(OTHER_IMAGE, hw_disk_bus="ide")
        server = self.boot(SCSI)
        self.rebuild(server, image=OTHER_IMAGE)
        self.assertAgree(server, "q35", "scsi", "sda", "vga")
        self.rebuild(server, {"os_type": "linux"}, image=OTHER_IMAGE)
        self.assertAgree(server, "pc", "ide", "hda")

    def test_local_disks_go_to_the_new_bus_and_a_data_volume_stays(self):
        flavor = self._create_flavor(ephemeral=1, swap=1)
        data = {
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.SWAP_OLD_VOL,
            "boot_index": -1,
        }
        root = {
            "source_type": "image",
            "destination_type": "local",
            "uuid": IMAGE,
            "boot_index": 0,
        }
        server = self.boot(
            flavorRef=flavor, block_device_mapping_v2=[root, data]
        )
        domain = self.rebuild(server, {"hw_disk_bus": "scsi"})
        self.assertEqual(
            ["scsi", "scsi", "scsi", "virtio"], sorted(domain.disk_buses)
        )
        (volume,) = [bdm for bdm in self.mappings(server) if bdm.is_volume]
        self.assertEqual("virtio", volume.disk_bus)
        self.assertEqual(domain.targets, self.rebooted(server).targets)

    def test_a_bus_of_the_boot_request_wins_over_the_override(self):
        root = {
            "source_type": "image",
            "destination_type": "local",
            "uuid": IMAGE,
            "boot_index": 0,
            "disk_bus": "virtio",
        }
        server = self.boot(block_device_mapping_v2=[root])
        domain = self.rebuild(server, {"hw_disk_bus": "scsi"})
        self.assertEqual([("virtio", "vda")], domain.targets)
        self.assertAligned(server, ("virtio", "vda"))

    def test_without_overrides_another_image_keeps_the_bus_as_in_nova(self):
        self.set_image(OTHER_IMAGE, hw_disk_bus="ide")
        server = self.boot()
        domain = self.rebuild(server, image=OTHER_IMAGE)
        self.assertEqual([("virtio", "vda")], domain.targets)

    def test_same_image_knows_the_image_of_a_root_volume(self):
        self.flags(on_rebuild="same-image", group="image_props_override")
        server = self.boot_volume(SATA)
        self.rebuild(server)
        self.assertAgree(server, "q35", "sata", "sda")
        self.rebuild(server, image=OTHER_IMAGE)
        self.assertAgree(server, "pc", "virtio", "vda")

    def test_the_filters_look_at_new_overrides_of_the_same_image(self):
        """As at a new image: hosts of another hypervisor are none."""
        self.flags(denied=[], group="image_props_override")
        server = self.boot(SATA)
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {
                "rebuild": {
                    "imageRef": IMAGE,
                    "image_props_override": {"img_hv_type": "lxc"},
                }
            },
        )
        # the fixtures make Nova wait for the conductor, hence no 202
        self.assertRefused(500, answer, "NoValidHost")
        self._wait_for_state_change(server, "ERROR")
        # the next one mends it
        self.rebuild(server, SCSI)
        self.assertAgree(server, "q35", "scsi", "sda", "vga")

    def test_a_stopped_server_stays_off(self):
        # Nova's fixtures rebuild before they answer: SHUTOFF has no progress
        self.flags(response_validation="ignore", group="api")
        server = self.boot(SATA)
        self._stop_server(server)
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {
                "rebuild": {
                    "imageRef": IMAGE,
                    "image_props_override": SCSI,
                }
            },
        )
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_server_parameter(
            server,
            {"status": "SHUTOFF", "OS-EXT-STS:task_state": None},
        )
        self._start_server(server)
        self.assertAgree(server, "q35", "scsi", "sda", "vga")
