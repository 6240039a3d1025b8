"""When a server's hardware is decided anew, and what its images have of it."""

from tests.functional.case import IMAGE, OTHER_IMAGE
from tests.functional.libvirt import hardware_case, test_images

CHOSEN = "Hardware for os_name"
WINDOWS = {"os_name": "win10"}


class ChangeCase(hardware_case.HardwareCase):
    def assertDecided(self, times):
        self.assertEqual(times, self.logged.output.count(CHOSEN))

    def assertWindows(self, domain):
        self.assertEqual([("ide", "hda")], domain.targets)
        self.assertNic("e1000e", domain)
        self.assertClock(domain, "localtime", "hypervclock")

    def assertLinux(self, domain):
        self.assertEqual([("virtio", "vda")], domain.targets)
        self.assertNic("virtio", domain)
        self.assertClock(domain, "utc", "kvmclock")
        self.assertIsNone(domain.tree.find("features/hyperv"))


class ChangeTest(ChangeCase):
    def setUp(self):
        super().setUp()
        self.start_host()

    def test_another_image_is_decided_for(self):
        self.set_os("win10")
        self.set_image(OTHER_IMAGE, os_name="ubuntu22.04")
        server = self.boot()
        self.assertWindows(self.domain(server))
        self.assertLinux(self.rebuilt(server, OTHER_IMAGE))
        self.assertDecided(2)
        self.assertEqual("linux", self.instance(server).os_type)
        self.assertAligned(server, ("virtio", "vda"))
        self.assertWindows(self.rebuilt(server, IMAGE))
        self.assertAligned(server, ("ide", "hda"))
        # and nothing for one that names no system
        del self.glance.images[OTHER_IMAGE]["properties"]["os_name"]
        self.assertStock(self.rebuilt(server, OTHER_IMAGE))
        self.assertDecided(3)
        self.assertEqual({}, self.record(server))
        self.assertNotIn("osinfo", self.origins(server).values())

    def test_an_override_that_stays_keeps_the_hardware(self):
        self.set_image(
            OTHER_IMAGE, os_name="ubuntu22.04", architecture="x86_64"
        )
        server = self.boot(WINDOWS)
        self.assertWindows(self.rebuilt(server, OTHER_IMAGE))
        self.assertWindows(self.rebooted(server))
        self.assertDecided(1)

    def test_another_os_name_is_decided_for_with_the_next_start(self):
        server = self.boot(WINDOWS)
        self._stop_server(server)
        self.put(server, {"os_name": "ubuntu22.04"})
        self.assertDecided(1)
        # a host that starts again meanwhile registers nothing
        self.restart_compute_service("compute1")
        self.assertNotIn("osinfo", self.origins(server).values())
        self.assertLinux(self.started(server))
        self.assertAligned(server, ("virtio", "vda"))
        self.assertEqual("osinfo", self.origins(server)["hw_disk_bus"])

        self._stop_server(server)
        self.delete(server, "os_name")
        self.assertStock(self.started(server))
        self.assertEqual({}, self.record(server))
        self.assertNotIn("osinfo", self.origins(server).values())

        self._stop_server(server)
        self.put(server, WINDOWS)
        self.assertWindows(self.started(server))
        self.assertDecided(3)

    def test_without_its_override_a_property_is_as_it_was_decided(self):
        server = self.boot(WINDOWS | {"hw_disk_bus": "virtio"})
        self.assertEqual([("virtio", "vda")], self.domain(server).targets)
        self.empty_database()
        self._stop_server(server)
        self.delete(server, "hw_disk_bus")
        self.assertWindows(self.started(server))
        self.assertEqual("osinfo", self.origins(server)["hw_disk_bus"])
        self._stop_server(server)
        self.put(server, WINDOWS | {"hw_vif_model": "rtl8139"})
        self.assertNic("rtl8139", self.started(server))
        self.assertDecided(1)


class NextGuestTest(ChangeCase):
    def test_whatever_builds_the_next_guest_decides(self):
        self.flags(shelved_offload_time=0)
        for name in ("compute1", "compute2"):
            self.start_host(name)
        server = self.boot(WINDOWS)
        self._stop_server(server)
        self.put(server, {"os_name": "ubuntu22.04"})
        flavor = self._create_flavor(vcpu=4, ephemeral=0)
        self.assertLinux(self.migrated(server, flavor))
        self.act(server, "confirmResize", "SHUTOFF")
        self.assertEqual({("virtio", "/dev/vda")}, self.written(server))

        self._shelve_server(server)
        self.put(server, WINDOWS)
        del self.domains[server["id"]]
        self._unshelve_server(server)
        self.assertWindows(self.domain(server))
        self.assertWindows(self.rebooted(server))
        self.assertAligned(server, ("ide", "hda"))
        self.assertDecided(3)


class ImageTest(test_images.ImagesCase, hardware_case.HardwareCase):
    """Of what was decided a user's image has os_name alone."""

    def test_a_snapshot_has_the_name_and_not_the_choices(self):
        self.set_volume(os_name="win10")
        for boot in (self.boot, self.boot_volume):
            server = boot(WINDOWS)
            chosen = self.record(server)["applied"].split(",")
            self.assertIn("os_type", chosen)
            self.glance.images = {
                key: image
                for key, image in self.glance.images.items()
                if image["name"] != "snapshot"
            }
            properties = self.snapshot(server)
            self.assertEqual("win10", properties["os_name"])
            self.assertFalse({*chosen, "os_type"} & properties.keys())
            self.assertFalse([key for key in properties if "imprint" in key])
            # its server is decided for by its own host
            domain = self.boot_from_snapshot({"hw_machine_type": "q35"})
            self.assertEqual([("sata", "sda")], domain.targets)
            self.assertClock(domain, "localtime", "hypervclock")
