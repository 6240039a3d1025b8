"""Windows guests on a host with KVM and on one without."""

import logging

import fixtures
from tests.functional.libvirt import case

WINDOWS = {"os_type": "windows"}
NOTE = "Guest gets no Hyper-V features"


class WindowsCase(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.logged = self.useFixture(
            fixtures.FakeLogger("imprint", level=logging.INFO)
        )
        self.start_host()


class EmulatedWindowsTest(WindowsCase):
    virt_type = "qemu"

    def test_a_windows_guest_gets_no_features_that_only_kvm_has(self):
        server = self.boot(WINDOWS)
        domain = self.domain(server)
        self.assertEqual("qemu", domain.tree.get("type"))
        self.assertIsNone(domain.tree.find("features/hyperv"))
        self.assertIsNotNone(domain.tree.find("features/acpi"))
        self.assertEqual(["localtime"], domain.values("clock", "offset"))
        self.assertEqual(1, self.logged.output.count(NOTE))

        self.boot()
        self.assertEqual(1, self.logged.output.count(NOTE))


class AcceleratedWindowsTest(WindowsCase):
    virt_type = "kvm"

    def test_a_windows_guest_gets_its_hyperv_features(self):
        domain = self.domain(self.boot(WINDOWS))
        self.assertIsNotNone(domain.tree.find("features/hyperv"))
        self.assertNotIn(NOTE, self.logged.output)
