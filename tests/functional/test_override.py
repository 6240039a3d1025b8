"""POST /servers with image_props_override, through Nova's own pipeline."""

from tests.functional import case


class TestOverride(case.ApiCase):
    def test_command_line_is_merged_and_recorded(self):
        self.set_image(kernel_id=case.OTHER_IMAGE, ramdisk_id=None)
        line = "console=ttyS0 inst.ks=http://h/a?x=1"
        server = self.boot({"os_command_line": line})
        kept = self.instance(server).system_metadata
        self.assertEqual(line, kept["image_os_command_line"])
        self.assertEqual(line, kept["imprint_override:os_command_line"])
        shown = self.request("GET", f"/servers/{server['id']}").json()
        self.assertEqual(
            {"os_command_line": line},
            shown["server"]["image_props_override"],
        )
