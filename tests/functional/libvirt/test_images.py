"""Images of a server: what was declared for it, not what Nova computed."""

from nova.compute import task_states
from nova.virt.libvirt import driver
from tests.functional.case import OTHER_IMAGE
from tests.functional.libvirt import case

OVERRIDES = {"hw_disk_bus": "sata", "os_name": "debian12"}
COMPUTED = set(driver.REGISTER_IMAGE_PROPERTY_DEFAULTS) - {"hw_disk_bus"}


def upload_nothing(driver, context, instance, image_id, update_task_state):
    update_task_state(task_state=task_states.IMAGE_PENDING_UPLOAD)
    update_task_state(
        task_state=task_states.IMAGE_UPLOADING,
        expected_state=task_states.IMAGE_PENDING_UPLOAD,
    )


class ImagesCase(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.start_host()
        declared = {"os_distro": "debian", "hw_video_model": "vga"}
        self.set_volume(note="ours", **declared)
        self.set_image(note="ours", **declared)
        # there is no disk to upload
        self.stub_out(
            "nova.virt.libvirt.driver.LibvirtDriver.snapshot", upload_nothing
        )

    def image(self, server, action, name):
        """Let a server's owner make an image; return its properties."""
        answer = self.request(
            "POST", f"/servers/{server['id']}/action", action
        )
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_server_parameter(
            server, {"OS-EXT-STS:task_state": None}
        )
        *_, properties = self.snapshots(name)
        return properties

    def snapshot(self, server):
        return self.image(
            server, {"createImage": {"name": "snapshot"}}, "snapshot"
        )

    def assertDeclared(self, properties):
        declared = {
            "hw_disk_bus": "sata",
            "os_name": "debian12",
            "os_distro": "debian",
            "hw_video_model": "vga",
            "note": "ours",
        }
        found = {name: properties.get(name) for name in declared}
        self.assertEqual(declared, found)
        self.assertEqual({"hw_video_model"}, COMPUTED & properties.keys())
        self.assertFalse([key for key in properties if "imprint" in key])

    def boot_from_snapshot(self, overrides=None):
        (image,) = [
            image
            for image in self.glance.images.values()
            if image["name"] == "snapshot"
        ]
        image["status"] = "active"
        return self.domain(self.boot(overrides, imageRef=image["id"]))


class ImagesTest(ImagesCase):
    def test_a_snapshot_has_what_was_declared(self):
        server = self.boot(OVERRIDES)
        kept = self.instance(server).system_metadata
        for name in COMPUTED:
            self.assertIn(f"image_{name}", kept)
        self.assertDeclared(self.snapshot(server))
        self.flags(hw_machine_type="x86_64=q35", group="libvirt")
        # the host's default of its own time
        domain = self.boot_from_snapshot()
        self.assertEqual("q35", domain.machine)
        self.assertEqual([("sata", "sda")], domain.targets)

    def test_a_backup_has_what_was_declared(self):
        backup = {"name": "backup", "backup_type": "daily", "rotation": 99}
        self.assertDeclared(
            self.image(
                self.boot(OVERRIDES), {"createBackup": backup}, "backup"
            )
        )

    def test_a_snapshot_of_a_volume_has_what_was_declared(self):
        server = self.boot_volume(OVERRIDES)
        properties = self.snapshot(server)
        self.assertDeclared(properties)
        self.assertNotIn("instance_uuid", properties)
        # bus and name of the root disk are computed as well
        self.assertNotIn("root_device_name", properties)
        (root,) = properties["block_device_mapping"]
        self.assertIsNone(root["disk_bus"])
        self.assertIsNone(root["device_name"])
        self.assertEqual([("sata", "sda")], self.boot_from_snapshot().targets)

    def test_a_bus_of_the_boot_request_is_declared(self):
        root = {
            "boot_index": 0,
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.IMAGE_BACKED_VOL,
            "disk_bus": "scsi",
        }
        server = self.boot(imageRef="", block_device_mapping_v2=[root])
        properties = self.snapshot(server)
        (root,) = properties["block_device_mapping"]
        self.assertEqual("scsi", root["disk_bus"])
        self.assertEqual(["scsi"], self.boot_from_snapshot().disk_buses)
        # and an override wins over what an image declares
        domain = self.boot_from_snapshot({"hw_disk_bus": "ide"})
        self.assertEqual([("ide", "hda")], domain.targets)

    def test_no_image_inherits_a_signature(self):
        """Not where the operator lets users override it either.

        It is of other data: https://bugs.launchpad.net/nova/+bug/1852106
        """
        self.flags(denied=[], group="image_props_override")
        self.set_image(img_signature_hash_method="SHA-256")
        self.set_volume(img_signature_hash_method="SHA-256")
        asked = OVERRIDES | {
            "img_signature": "c2ln",
            "img_signature_key_type": "RSA-PSS",
        }
        for boot in (self.boot, self.boot_volume):
            properties = self.snapshot(boot(asked))
            self.assertFalse([key for key in properties if "sig" in key])

    def test_a_shelved_image_keeps_what_unshelve_needs(self):
        self.flags(shelved_offload_time=0)
        server = self.boot(OVERRIDES)
        self._shelve_server(server)
        (properties,) = self.snapshots(f"{server['name']}-shelved")
        self.assertEqual("pc", properties["hw_machine_type"])
        self.assertEqual("debian12", properties["os_name"])
        self.assertLessEqual(COMPUTED, properties.keys())
        self.assertFalse([key for key in properties if "imprint" in key])
        self.flags(hw_machine_type="x86_64=q35", group="libvirt")
        self._unshelve_server(server)
        self.assertEqual("pc", self.domain(server).machine)
        self.assertAligned(server, ("sata", "sda"))
        self.assertDeclared(self.snapshot(server))

    def test_a_rebuilt_server_is_imaged_with_its_new_declaration(self):
        server = self.boot(OVERRIDES)
        self.set_image(OTHER_IMAGE, hw_vif_model="e1000")
        self.rebuilt(server, OTHER_IMAGE)
        properties = self.snapshot(server)
        self.assertEqual("sata", properties["hw_disk_bus"])
        self.assertEqual({"hw_vif_model"}, COMPUTED & properties.keys())
