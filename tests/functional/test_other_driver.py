"""A virt driver that is not Imprint's takes no notice of os_name."""

from tests.functional import case


class OtherDriverTest(case.BuiltCase):
    negotiated = case.NEGOTIATED_1_1

    def test_os_name_is_kept_and_decides_nothing(self):
        self.set_image(os_name="win10")
        for overrides in (None, {"os_name": "win2k19"}):
            server = self.boot(overrides)
            kept = self.instance(server).system_metadata
            self.assertIn("image_os_name", kept)
            self.assertFalse([key for key in kept if "hardware" in key])
            self.assertNotIn("image_hw_disk_bus", kept)
            self.assertNotIn("os_type", self.built[-1])
            self.assertIsNone(self.instance(server).os_type)
            answer = self.request(
                "GET", f"/servers/{server['id']}/image-properties"
            )
            shown = answer.json()["image_properties"]
            origins = {described["origin"] for described in shown.values()}
            self.assertNotIn("osinfo", origins)
            self.assertIn("os_name", shown)
