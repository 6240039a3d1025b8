"""Servers whose operating system a small libosinfo database knows."""

import logging
import shutil
import time

import fixtures
from lxml import etree
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

    def boot(self, overrides=None, **server):
        """Create a server with a NIC."""
        return super().boot(overrides, **{"networks": "auto", **server})

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

    def part(self, domain, path):
        """Return one element of a domain as text, to compare."""
        return etree.tostring(domain.tree.find(path)).decode().strip()

    def set_os(self, name, **properties):
        """Let the image name its operating system."""
        self.set_image(os_name=name, **properties)

    def empty_database(self):
        """Take the database away, as an operator may."""
        shutil.rmtree(self.database)
        # it looks for changes at most once a second
        for host in self.computes.values():
            database = host.driver._hardware._database
            while database.exists():
                time.sleep(0.1)

    def assertClock(self, domain, offset, *timers):
        """The clock is that, with these timers among its own."""
        self.assertEqual([offset], domain.values("clock", "offset"))
        found = domain.values("clock/timer", "name")
        self.assertLessEqual(set(timers), set(found), found)

    def assertNic(self, model, domain):
        self.assertEqual(
            [model], domain.values("devices/interface/model", "type")
        )

    def assertStock(self, domain):
        """The domain has Nova's own defaults."""
        self.assertEqual([("virtio", "vda")], domain.targets)
        self.assertClock(domain, "utc")
        self.assertNotIn("hypervclock", domain.values("clock/timer", "name"))
        self.assertIsNone(domain.tree.find("features/hyperv"))
