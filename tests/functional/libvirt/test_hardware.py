"""Hardware from the operating system: the domain of a new server."""

from tests.functional.libvirt import hardware_case


class HardwareTest(hardware_case.HardwareCase):
    def test_a_linux_gets_virtio(self):
        self.start_host()
        server = self.boot({"os_name": "ubuntu22.04"}, networks="auto")
        domain = self.domain(server)
        self.assertEqual([("virtio", "vda")], domain.targets)
        self.assertEqual("virtio", self.nic(domain))
        self.assertClock(domain, "utc", "kvmclock")

    def test_a_windows_gets_what_it_has_drivers_for(self):
        self.start_host()
        server = self.boot({"os_name": "win10"}, networks="auto")
        domain = self.domain(server)
        self.assertEqual([("ide", "hda")], domain.targets)
        self.assertEqual("e1000e", self.nic(domain))
        self.assertClock(domain, "localtime", "hypervclock")
