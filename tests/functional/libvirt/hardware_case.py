"""Servers whose operating system a small libosinfo database knows."""

import logging

import fixtures
from tests.functional.libvirt import case, osinfo


class HardwareCase(case.LibvirtCase):
    negotiated = "compute 2.104, imprint 1.1"

    def setUp(self):
        super().setUp()
        self.logged = self.useFixture(
            fixtures.FakeLogger("imprint", level=logging.INFO)
        )
        self.database = self.make_directory()
        self.rules = self.make_directory()
        osinfo.write_database(self.database)
        self.flags(
            osinfo_dirs=[self.database],
            hardware_dir=self.rules,
            group="imprint",
        )

    def kept(self, server):
        """Return the system metadata of a server."""
        return self.instance(server).system_metadata

    def record(self, server):
        """Return what is written down of a server's hardware."""
        prefix = "imprint_hardware:"
        return {
            key.removeprefix(prefix): value
            for key, value in self.kept(server).items()
            if key.startswith(prefix)
        }

    def origins(self, server):
        """Return the origin of each image property that the API shows."""
        answer = self.request(
            "GET", f"/servers/{server['id']}/image-properties"
        )
        self.assertEqual(200, answer.status_code, answer.text)
        return {
            name: shown["origin"]
            for name, shown in answer.json()["image_properties"].items()
        }

    def assertClock(self, domain, offset, *timers):
        """The clock is that, with these timers among its own."""
        self.assertEqual([offset], domain.values("clock", "offset"))
        found = domain.values("clock/timer", "name")
        self.assertLessEqual(set(timers), set(found), found)

    def nic(self, domain):
        (model,) = domain.values("devices/interface/model", "type")
        return model
