"""Overrides over the life of a server: the domain after each operation.

Each operation runs on a server of an image and on one of a volume.  After
the boot the image in Glance changes and goes: no operation may notice.
"""

import fixtures
from nova.conf import CONF
from tests.functional.case import IMAGE, OTHER_IMAGE
from tests.functional.libvirt import case

SCSI = {"hw_disk_bus": "scsi", "hw_machine_type": "q35"}
# what nobody overrode, for a server of the image and of the volume
VIDEO = "vga"


class LifecycleCase(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.let_migrate()
        self.set_volume(hw_video_model=VIDEO)
        self.set_image(hw_video_model=VIDEO)
        self.hosts = {"compute1", "compute2"}
        for host in sorted(self.hosts):
            self.start_host(host)

    def imprinted(self):
        """Boot a server; the image is another one afterwards."""
        server = self.boot_root(SCSI)
        self.kept = self.properties(server)
        self.change_image()
        return server

    def change_image(self):
        raise NotImplementedError

    def properties(self, server):
        """Return what Nova keeps of the server's image."""
        kept = self.instance(server).system_metadata
        return {
            name: value
            for name, value in kept.items()
            if name.startswith(("image_", "imprint_"))
        }

    def host(self, server):
        return self.api.get_server(server["id"])["OS-EXT-SRV-ATTR:host"]

    def other_host(self, server):
        (other,) = self.hosts - {self.host(server)}
        return other

    def assertKept(self, server, domain=None):
        domain = domain or self.domain(server)
        self.assertEqual("q35", domain.machine)
        self.assertEqual([("scsi", "sda")], domain.targets)
        self.assertEqual([VIDEO], domain.values("devices/video/model", "type"))
        self.assertEqual(self.kept, self.properties(server))
        declared = self.request_spec(server).image.properties
        for name, value in SCSI.items():
            self.assertEqual(value, declared.get(name))
        self.assertEqual({("scsi", "/dev/sda")}, self.written(server))

    def resized(self, server):
        self.domains.pop(server["id"])
        self._resize_server(server, self._create_flavor(vcpu=4, ephemeral=0))
        return self.domain(server)


class Operations:
    """What may happen to a server, with SCSI as its overrides."""

    def test_reboots_keep_the_overrides(self):
        server = self.imprinted()
        self._reboot_server(server, hard=False)
        self.assertKept(server)
        self.assertKept(server, self.rebooted(server))

    def test_a_start_keeps_the_overrides(self):
        server = self.imprinted()
        self._stop_server(server)
        del self.domains[server["id"]]
        self._start_server(server)
        self.assertKept(server)

    def test_pause_and_suspend_keep_the_overrides(self):
        server = self.imprinted()
        for action, status in (
            ("pause", "PAUSED"),
            ("unpause", "ACTIVE"),
            ("suspend", "SUSPENDED"),
            ("resume", "ACTIVE"),
        ):
            self.act(server, action, status)
        self.assertKept(server, self.rebooted(server))

    def test_a_resize_keeps_the_overrides(self):
        server = self.imprinted()
        self.assertKept(server, self.resized(server))
        self._confirm_resize(server)
        self.assertKept(server, self.rebooted(server))

    def test_a_reverted_resize_keeps_the_overrides(self):
        server = self.imprinted()
        host = self.host(server)
        self.assertKept(server, self.resized(server))
        del self.domains[server["id"]]
        self._revert_resize(server)
        self.assertEqual(host, self.host(server))
        self.assertKept(server)
        self.assertKept(server, self.rebooted(server))

    def test_a_cold_migration_keeps_the_overrides(self):
        server = self.imprinted()
        target = self.other_host(server)
        del self.domains[server["id"]]
        self._migrate_server(server)
        self.assertKept(server)
        self._confirm_resize(server)
        self.assertEqual(target, self.host(server))
        self.assertKept(server, self.rebooted(server))

    def test_a_live_migration_keeps_the_overrides(self):
        """The guest that is built anew there: the fake moves little of it."""
        server = self.imprinted()
        target = self.other_host(server)
        self._live_migrate(server)
        self.assertEqual(target, self.host(server))
        self.assertKept(server, self.rebooted(server))

    def test_an_evacuated_server_comes_back_with_its_overrides(self):
        server = self.imprinted()
        source, target = self.host(server), self.other_host(server)
        self.computes[source].stop()
        (service,) = self.api.get_services(binary="nova-compute", host=source)
        self.api.put_service_force_down(service["id"], True)
        del self.domains[server["id"]]
        # Nova leaves it off there.
        self._evacuate_server(server, expected_host=target)
        self.assertKept(server)
        self._start_server(server)
        self.assertKept(server)

    def test_a_shelved_server_comes_back_with_its_overrides(self):
        self.flags(shelved_offload_time=0)
        server = self.imprinted()
        self._shelve_server(server)
        del self.domains[server["id"]]
        self._unshelve_server(server)
        self.kept["image_base_image_ref"] = self.properties(server)[
            "image_base_image_ref"
        ]
        self.assertKept(server)
        self.assertKept(server, self.rebooted(server))

    def test_a_shelved_server_that_keeps_its_host_has_its_overrides(self):
        self.flags(shelved_offload_time=-1)
        server = self.imprinted()
        self._shelve_server(server, self.shelved)
        self.domains.pop(server["id"])
        self._unshelve_server(server)
        self.assertKept(server)


class ImageTest(Operations, LifecycleCase):
    shelved = "SHELVED"

    def boot_root(self, overrides):
        return self.boot(overrides)

    def change_image(self):
        self.set_image(hw_disk_bus="ide", hw_video_model="cirrus")
        del self.glance.images[IMAGE]

    def test_a_resize_keeps_the_machine_type_a_server_was_made_with(self):
        """The host's default of later days is for later servers."""
        server = self.boot()
        self.assertEqual("pc", self.domain(server).machine)
        self.flags(hw_machine_type="x86_64=q35", group="libvirt")
        self.assertEqual("pc", self.resized(server).machine)

    def test_a_rebuild_leaves_a_server_without_overrides_to_nova(self):
        self.set_image(OTHER_IMAGE, hw_video_model="cirrus")
        server = self.boot()
        domain = self.rebuilt(server, OTHER_IMAGE)
        self.assertEqual(
            ["cirrus"], domain.values("devices/video/model", "type")
        )
        self.assertEqual("pc", domain.machine)


class VolumeTest(Operations, LifecycleCase):
    # a root volume leaves nothing on the host that would have to stay
    shelved = "SHELVED_OFFLOADED"

    def boot_root(self, overrides):
        return self.boot_volume(overrides)

    def change_image(self):
        self.set_volume(hw_disk_bus="ide", hw_video_model="cirrus")
        del self.glance.images[IMAGE]


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

    def test_a_legacy_rescue_has_the_hardware_of_its_image(self):
        """As in Nova; and only until the rescue is over."""
        del self.glance.images[OTHER_IMAGE]["properties"]["hw_rescue_bus"]
        del self.glance.images[OTHER_IMAGE]["properties"]["hw_rescue_device"]
        self.glance.images[OTHER_IMAGE]["properties"]["hw_disk_bus"] = "ide"
        server = self.boot(SCSI)
        domain = self.rescued(server)
        self.assertEqual(["ide", "ide"], domain.disk_buses)
        self.assertEqual("pc", domain.machine)
        self.request(
            "POST", f"/servers/{server['id']}/action", {"unrescue": None}
        )
        self._wait_for_state_change(server, "ACTIVE")
        domain = self.rebooted(server)
        self.assertEqual(["scsi"], domain.disk_buses)
        self.assertEqual("q35", domain.machine)
