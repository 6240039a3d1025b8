"""What becomes of overrides after the boot: rebuild, images, shelve."""

from tests.functional import case


class TestRebuild(case.BuiltCase):
    def test_overrides_stay_with_the_same_and_with_another_image(self):
        self.set_image(case.OTHER_IMAGE, hw_disk_bus="scsi", os_distro="x")
        server = self.boot({"hw_disk_bus": "ide", "os_type": "windows"})
        for image in (case.IMAGE, case.OTHER_IMAGE):
            self._rebuild_server(server, image)
            self.assertRecorded(server, hw_disk_bus="ide", os_type="windows")
            instance = self.instance(server)
            self.assertEqual("windows", instance.os_type)
            self.assertEqual(image, instance.image_ref)
        self.assertEqual("x", instance.system_metadata["image_os_distro"])
        # what the scheduler was asked for, and what later resizes go by
        self.assertOverridden_in_request_spec(server)

    def assertOverridden_in_request_spec(self, server):
        image = self.request_spec(server).image
        self.assertEqual("ide", image.properties.hw_disk_bus)
        self.assertEqual("x", image.properties.os_distro)

    def test_overrides_that_are_denied_meanwhile_stay(self):
        server = self.boot({"hw_disk_bus": "ide"})
        self.flags(enabled=False, denied=["*"], group="image_props_override")
        self._rebuild_server(server, case.OTHER_IMAGE)
        self.assertRecorded(server, hw_disk_bus="ide")

    def test_a_kept_command_line_needs_a_kernel_in_the_new_image(self):
        self.set_image(kernel_id=case.OTHER_IMAGE, ramdisk_id=None)
        server = self.boot({"os_command_line": "quiet"})
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {"rebuild": {"imageRef": case.OTHER_IMAGE}},
        )
        self.assertRefused(400, answer, "os_command_line", "kernel_id")
        self.assertEqual(case.IMAGE, self.instance(server).image_ref)
        self.assertRecorded(server, os_command_line="quiet")


class TestImages(case.BuiltCase):
    def assertClean(self, name):
        """Nothing but image properties is in the image; return them."""
        (properties,) = self.snapshots(name)
        self.assertFalse([key for key in properties if "imprint" in key])
        self.assertEqual("ide", properties["hw_disk_bus"])
        return properties

    def act(self, server, action):
        answer = self.request(
            "POST", f"/servers/{server['id']}/action", action
        )
        self.assertEqual(202, answer.status_code, answer.text)
        # else the host would delete the image of a task that was taken away
        self._wait_for_server_parameter(
            server, {"OS-EXT-STS:task_state": None}
        )

    def test_records_are_in_no_image_of_the_server(self):
        server = self.boot({"hw_disk_bus": "ide"})
        self.act(server, {"createImage": {"name": "snapshot"}})
        self.assertClean("snapshot")
        backup = {"name": "backup", "backup_type": "daily", "rotation": 99}
        self.act(server, {"createBackup": backup})
        self.assertClean("backup")

    def test_records_are_not_in_the_image_of_a_volume_backed_server(self):
        server = self.boot(
            {"hw_disk_bus": "ide"},
            imageRef="",
            block_device_mapping_v2=[
                {
                    "boot_index": 0,
                    "source_type": "volume",
                    "destination_type": "volume",
                    "uuid": self.cinder.IMAGE_BACKED_VOL,
                }
            ],
        )
        get = self.cinder.fake_get
        # the fixture's volumes lack what a snapshot is described by
        self.stub_out(
            "nova.volume.cinder.API.get",
            lambda api, *args, **kwargs: {
                **get(*args, **kwargs),
                "display_description": "",
            },
        )
        self.act(server, {"createImage": {"name": "snapshot"}})
        self.assertClean("snapshot")

    def test_a_server_from_a_snapshot_has_no_record_of_the_first(self):
        self.act(
            self.boot({"hw_disk_bus": "ide"}),
            {"createImage": {"name": "snapshot"}},
        )
        (image,) = [
            image
            for image in self.glance.images.values()
            if image["name"] == "snapshot"
        ]
        image["status"] = "active"
        server = self.boot(imageRef=image["id"])
        shown = self.request("GET", f"/servers/{server['id']}").json()
        self.assertEqual({}, shown["server"]["image_props_override"])
        # what was overridden is a property of the new image
        self.assertEqual("ide", server["image"]["properties"]["hw_disk_bus"])

    def test_overrides_survive_shelving(self):
        server = self.boot({"hw_disk_bus": "ide"})
        self._shelve_server(server)
        self.assertClean(f"{server['name']}-shelved")
        self._unshelve_server(server)
        self.assertRecorded(server, hw_disk_bus="ide")
        self.assertEqual("ide", self.built[-1].hw_disk_bus)
