"""Overrides over the life of a server: the domain after each operation."""

import fixtures
from nova.conf import CONF
from tests.functional.case import IMAGE, OTHER_IMAGE
from tests.functional.libvirt import case

SCSI = {"hw_disk_bus": "scsi", "hw_machine_type": "q35"}


class LifecycleTest(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.start_host()

    def assertScsi(self, domain):
        self.assertEqual("q35", domain.machine)
        self.assertEqual(["scsi"], domain.disk_buses)

    def test_a_hard_reboot_keeps_the_overrides(self):
        server = self.boot(SCSI)
        self.assertScsi(self.rebooted(server))

    def test_a_rebuild_keeps_the_overrides_whatever_the_image(self):
        self.glance.images[IMAGE]["properties"]["hw_disk_bus"] = "ide"
        self.glance.images[OTHER_IMAGE]["properties"].update(
            hw_disk_bus="sata", hw_video_model="vga"
        )
        server = self.boot(SCSI)
        self.assertScsi(self.rebuilt(server, IMAGE))

        domain = self.rebuilt(server, OTHER_IMAGE)
        self.assertScsi(domain)
        # What nobody overrode comes from the new image.
        self.assertEqual(["vga"], domain.values("devices/video/model", "type"))
        self.assertScsi(self.rebooted(server))

    def test_a_rebuild_leaves_a_server_without_overrides_to_nova(self):
        self.glance.images[OTHER_IMAGE]["properties"]["hw_video_model"] = "vga"
        server = self.boot()
        domain = self.rebuilt(server, OTHER_IMAGE)
        self.assertEqual(["vga"], domain.values("devices/video/model", "type"))
        self.assertEqual("pc", domain.machine)

    def test_a_resize_keeps_the_overrides_on_the_other_host(self):
        self.start_host("compute2")
        server = self.boot(SCSI)
        flavor = self._create_flavor(vcpu=4, ephemeral=0)
        self.assertScsi(self.migrated(server, flavor))
        self._confirm_resize(server)
        self.assertScsi(self.rebooted(server))

    def test_a_resize_keeps_the_machine_type_a_server_was_made_with(self):
        """The host's default of later days is for later servers."""
        self.start_host("compute2")
        server = self.boot()
        self.assertEqual("pc", self.domain(server).machine)
        self.flags(hw_machine_type="x86_64=q35", group="libvirt")
        domain = self.migrated(
            server, self._create_flavor(vcpu=4, ephemeral=0)
        )
        self.assertEqual("pc", domain.machine)

    def test_a_shelved_server_comes_back_with_its_overrides(self):
        self.flags(shelved_offload_time=0)
        server = self.boot(SCSI)
        self._shelve_server(server)
        del self.domains[server["id"]]
        self._unshelve_server(server)
        self.assertScsi(self.domain(server))

    def test_an_evacuated_server_comes_back_with_its_overrides(self):
        self.start_host("compute2")
        server = self.boot(SCSI)
        source = server["OS-EXT-SRV-ATTR:host"]
        (target,) = set(self.computes) - {source}
        self.computes[source].stop()
        self.api.put_service_force_down(
            self.api.get_services(binary="nova-compute", host=source)[0]["id"],
            True,
        )
        del self.domains[server["id"]]
        # Nova leaves it off there.
        self._evacuate_server(server, expected_host=target)
        self.assertScsi(self.domain(server))


class RescueTest(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        # A rescue keeps the old domain in the server's directory and makes a
        # disk of the rescue image, which the image backend's fixture cannot.
        self.useFixture(
            fixtures.MockPatch(
                "nova.virt.libvirt.imagebackend._update_utime_ignore_eacces"
            )
        )
        self.useFixture(
            fixtures.MonkeyPatch(
                "nova.virt.libvirt.utils.get_instance_path",
                lambda *args, **kwargs: CONF.instances_path,
            )
        )
        self.glance.images[OTHER_IMAGE]["properties"].update(
            hw_rescue_bus="usb", hw_rescue_device="disk"
        )
        self.start_host()

    def rescued(self, server):
        del self.domains[server["id"]]
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {"rescue": {"rescue_image_ref": OTHER_IMAGE}},
        )
        self.assertEqual(200, answer.status_code, answer.text)
        self._wait_for_state_change(server, "RESCUE")
        return self.domain(server)

    def test_a_stable_rescue_keeps_the_overrides(self):
        server = self.boot(SCSI)
        domain = self.rescued(server)
        self.assertEqual("q35", domain.machine)
        self.assertEqual(["scsi", "usb"], domain.disk_buses)

    def test_a_stable_rescue_of_a_volume_keeps_the_overrides(self):
        root = {
            "boot_index": 0,
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.IMAGE_BACKED_VOL,
        }
        server = self.boot(SCSI, imageRef="", block_device_mapping_v2=[root])
        domain = self.rescued(server)
        self.assertEqual("q35", domain.machine)
        self.assertEqual(["scsi", "usb"], domain.disk_buses)

    def test_a_rescue_with_another_servers_image_leaves_that_image_alone(self):
        """Only the server's own image is answered for: not the rescue one."""
        del self.glance.images[OTHER_IMAGE]["properties"]["hw_rescue_bus"]
        del self.glance.images[OTHER_IMAGE]["properties"]["hw_rescue_device"]
        self.glance.images[OTHER_IMAGE]["properties"]["hw_disk_bus"] = "ide"
        server = self.boot(SCSI)
        # Nova's older rescue takes the hardware of the rescue image.
        domain = self.rescued(server)
        self.assertEqual(["ide", "ide"], domain.disk_buses)
