"""Servers on the libvirt driver, with Nova's fake in libvirt's place.

A test reads the domain as libvirt was given it, whole: the fake itself keeps
only the parts that Nova asks for again.
"""

import tempfile
from unittest import mock

import fixtures
from lxml import etree
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import base
from tests.functional import case

from imprint.nova import driver


class Domain:
    """One domain, as the XML that libvirt was last given for it."""

    def __init__(self, xml):
        self.tree = etree.fromstring(xml)

    @property
    def uuid(self):
        return self.tree.findtext("uuid")

    def text(self, path):
        return self.tree.findtext(path)

    def values(self, path, attribute):
        """List an attribute of every element at a path."""
        return [element.get(attribute) for element in self.tree.findall(path)]

    @property
    def disk_buses(self):
        return self.values("devices/disk[@device='disk']/target", "bus")

    @property
    def targets(self):
        """List the bus and the name of every disk."""
        names = self.values("devices/disk[@device='disk']/target", "dev")
        return sorted(zip(self.disk_buses, names, strict=True))

    @property
    def machine(self):
        (machine,) = self.values("os/type", "machine")
        return machine

    @property
    def numa_cells(self):
        """List each guest NUMA cell as its CPUs and MiB of memory."""
        return [
            (cell.get("cpus"), int(cell.get("memory")) // 1024)
            for cell in self.tree.findall("cpu/numa/cell")
        ]


class LibvirtCase(case.ApiCase, base.ServersTestBase):
    """Boots servers through the API and reads their domains."""

    ADMIN_API = True
    virt_type = "kvm"

    def setUp(self):
        super().setUp()
        self.flags(virt_type=self.virt_type, group="libvirt")
        # nothing of the host that the tests run on
        for kind in ("DATA", "SYSTEM", "LOCAL", "USER"):
            self.useFixture(
                fixtures.EnvironmentVariable(
                    f"OSINFO_{kind}_DIR", self.make_directory()
                )
            )
        self.flags(hardware_dir=self.make_directory(), group="imprint")
        self.domains = {}
        for name in ("createXML", "defineXML"):
            self.record_domains(name)

    def make_directory(self):
        """Return an empty directory, until the end of the test."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return directory.name

    def _setup_compute_service(self):
        # A test starts its hosts itself, to say what they can do.
        self.flags(compute_driver="imprint.LibvirtDriver")

    def record_domains(self, name):
        method = getattr(fakelibvirt.Connection, name)

        def record(connection, xml, *args):
            domain = Domain(xml)
            self.domains[domain.uuid] = domain
            return method(connection, xml, *args)

        self.stub_out(f"nova.tests.fixtures.libvirt.Connection.{name}", record)

    def start_host(self, hostname="compute1", **facts):
        """Start nova-compute on a host of two NUMA cells by default."""
        self.start_compute(hostname=hostname, **facts)
        host = self.computes[hostname]
        self.assertIs(driver.LibvirtDriver, type(host.driver))
        return host

    def domain(self, server):
        return self.domains[server["id"]]

    def boot_volume(self, overrides=None, **server):
        """Create a server whose root disk is a volume of IMAGE."""
        root = {
            "boot_index": 0,
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.IMAGE_BACKED_VOL,
        }
        return self.boot(
            overrides, imageRef="", block_device_mapping_v2=[root], **server
        )

    def set_volume(self, **properties):
        """Change the image metadata that Cinder keeps of IMAGE_BACKED_VOL."""
        get = self.cinder.fake_get

        def fake_get(api, *args, **kwargs):
            # a description: the fixture lacks what Nova needs for a snapshot
            volume = get(*args, **kwargs) | {"display_description": ""}
            if metadata := volume.get("volume_image_metadata"):
                metadata.update(properties)
            return volume

        self.stub_out("nova.volume.cinder.API.get", fake_get)

    def put(self, server, overrides):
        """Replace the overrides of a server that is off."""
        answer = self.request(
            "PUT",
            f"/servers/{server['id']}/image-properties/overrides",
            {"image_props_override": overrides},
        )
        self.assertEqual(200, answer.status_code, answer.text)

    def delete(self, server, key):
        """Take one override from a server that is off."""
        answer = self.request(
            "DELETE",
            f"/servers/{server['id']}/image-properties/overrides/{key}",
        )
        self.assertEqual(204, answer.status_code, answer.text)

    def started(self, server):
        """Start a server; return the domain that Nova builds for it."""
        del self.domains[server["id"]]
        self._start_server(server)
        return self.domain(server)

    def act(self, server, action, status):
        """Do something to a server that takes no arguments."""
        answer = self.request(
            "POST", f"/servers/{server['id']}/action", {action: None}
        )
        self.assertIn(answer.status_code, (200, 202, 204), answer.text)
        self._wait_for_state_change(server, status)

    def let_migrate(self):
        """Let servers move, which the fake libvirt does not."""
        self.stub_out(
            "nova.tests.fixtures.libvirt.Domain.migrateToURI3", self._move
        )
        self.stub_out(
            "nova.virt.libvirt.driver.LibvirtDriver.migrate_disk_and_power_off",
            lambda *args, **kwargs: "[]",
        )

    def _move(self, domain, destination, params, flags):
        host = destination.split("/")[2]
        target = self.computes[host].driver._host.get_connection()
        target.createXML(params["destination_xml"], 0)
        domain.complete_job()

    def written(self, server):
        """Return bus and name of each disk as Nova's database has them."""
        return {
            (bdm.disk_bus, bdm.device_name) for bdm in self.mappings(server)
        }

    def assertAligned(self, server, *disks):
        """Domain and database agree about the disks, now and later."""
        for domain in (self.domain(server), self.rebooted(server)):
            self.assertEqual(sorted(disks), domain.targets)
        self.assertEqual(
            {(bus, f"/dev/{name}") for bus, name in disks},
            self.written(server),
        )
        (root,) = [bdm for bdm in self.mappings(server) if bdm.is_root]
        self.assertEqual(
            root.device_name, self.instance(server).root_device_name
        )

    def rebooted(self, server):
        """Return the domain of a server that Nova builds anew."""
        del self.domains[server["id"]]
        self._reboot_server(server, hard=True)
        return self.domain(server)

    def rebuilt(self, server, image):
        del self.domains[server["id"]]
        self._rebuild_server(server, image)
        return self.domain(server)

    def migrated(self, server, flavor):
        """Return the domain of a server on the host it is resized to."""
        del self.domains[server["id"]]
        with mock.patch(
            "nova.virt.libvirt.driver.LibvirtDriver"
            ".migrate_disk_and_power_off",
            return_value="[]",
        ):
            self._resize_server(server, flavor)
        return self.domain(server)
