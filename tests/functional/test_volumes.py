"""Servers whose root disk is a volume, by every way to get one."""

from tests.functional import case


class TestVolumes(case.BuiltCase):
    def boot_device(self, overrides, **device):
        server = {"imageRef": device.pop("imageRef", "")}
        server["block_device_mapping_v2"] = [
            {"boot_index": 0, "destination_type": "volume", **device}
        ]
        return self.boot(overrides, **server)

    def set_volume(self, **properties):
        """Give the image metadata of every volume more properties."""
        get = self.cinder.fake_get

        def fake_get(api, *args, **kwargs):
            volume = get(*args, **kwargs)
            volume.setdefault("volume_image_metadata", {}).update(properties)
            return volume

        self.stub_out("nova.volume.cinder.API.get", fake_get)

    def test_a_volume_with_image_metadata(self):
        self.set_volume(hw_disk_bus="scsi", hw_vif_model="e1000")
        server = self.boot_device(
            {"hw_disk_bus": "ide"},
            source_type="volume",
            uuid=self.cinder.IMAGE_BACKED_VOL,
        )
        self.assertOverridden(server, hw_disk_bus="ide")
        self.assertEqual("e1000", self.built[-1].hw_vif_model)

    def test_a_snapshot_of_a_volume(self):
        snapshot = self.cinder.fake_create_snapshot_force(
            None, self.cinder.IMAGE_BACKED_VOL, "s", ""
        )
        server = self.boot_device(
            {"hw_disk_bus": "ide"},
            source_type="snapshot",
            uuid=snapshot["id"],
            volume_size=1,
        )
        self.assertOverridden(server, hw_disk_bus="ide")

    def test_a_blank_volume(self):
        server = self.boot_device(
            {"hw_disk_bus": "ide"}, source_type="blank", volume_size=1
        )
        self.assertOverridden(server, hw_disk_bus="ide")

    def test_a_volume_made_from_the_image(self):
        for image in ("", case.IMAGE):
            server = self.boot_device(
                {"hw_disk_bus": "ide"},
                imageRef=image,
                source_type="image",
                uuid=case.IMAGE,
                volume_size=1,
            )
            self.assertOverridden(server, hw_disk_bus="ide")

    def test_a_command_line_needs_a_kernel_in_the_volume_too(self):
        body = self.body(
            {"os_command_line": "quiet"},
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
        answer = self.request("POST", "/servers", body)
        self.assertRefused(400, answer, "os_command_line", "kernel_id")
        self.assertNothingCreated()
        self.set_volume(kernel_id=case.IMAGE)
        answer = self.request("POST", "/servers", body)
        self.assertEqual(202, answer.status_code, answer.text)
        server = self._wait_for_state_change(answer.json()["server"], "ACTIVE")
        self.assertOverridden(server, os_command_line="quiet")
