"""Only a host writes a record: a tenant's words for it are not believed."""

from tests.functional.case import IMAGE
from tests.functional.libvirt import hardware_case, test_images

from imprint.nova.system_metadata import HARDWARE_PREFIX

FORGED = {
    HARDWARE_PREFIX + name: value
    for name, value in {
        "os": "http://microsoft.com/win/10",
        "name": "win10",
        "machine": "q35",
        "clock": "localtime",
        "timers": "hypervclock:yes",
        "hyperv": "vpindex",
        "property.hw_disk_bus": "sata",
        "property.os_type": "windows",
        "applied": "hw_disk_bus,os_type",
        "due": "yes",
    }.items()
}
#: as Nova would have to have them to take them for its own
DOUBLED = {f"image_{name}": value for name, value in FORGED.items()}


class ForgedTest(test_images.ImagesCase, hardware_case.HardwareCase):
    def setUp(self):
        super().setUp()
        self.set_image(**FORGED, **DOUBLED)
        self.set_volume(**FORGED, **DOUBLED)

    def assertUnbelieved(self, server, domain):
        self.assertStock(domain)
        self.assertEqual("pc", domain.machine)
        self.assertEqual({}, self.record(server))
        self.assertNotIn("osinfo", self.origins(server).values())

    def test_a_record_of_an_image_is_not_believed(self):
        for boot in (self.boot, self.boot_volume):
            server = boot(metadata=FORGED)
            self.assertUnbelieved(server, self.domain(server))
            self.assertUnbelieved(server, self.rebooted(server))
        server = self.boot(metadata=FORGED)
        self.assertUnbelieved(server, self.rebuilt(server, IMAGE))
        properties = self.snapshot(server)
        for name in FORGED:
            self.assertNotIn(name, properties)
        domain = self.boot_from_snapshot()
        self.assertUnbelieved({"id": domain.uuid}, domain)

    def test_a_shelved_image_that_was_changed_is_not_believed(self):
        """Its owner may, before the server comes back from it."""
        self.flags(shelved_offload_time=0)
        server = self.boot()
        self._shelve_server(server)
        (shelved,) = self.snapshots(f"{server['name']}-shelved")
        shelved.update(FORGED | DOUBLED)
        del self.domains[server["id"]]
        self._unshelve_server(server)
        self.assertUnbelieved(server, self.domain(server))

    def test_an_override_cannot_say_it(self):
        for name, value in (FORGED | DOUBLED).items():
            answer = self.request("POST", "/servers", self.body({name: value}))
            self.assertRefused(400, answer, name)
        self.assertNothingCreated()

    def test_the_hosts_own_record_stands_alone(self):
        server = self.boot({"os_name": "ubuntu22.04"})
        record = self.record(server)
        self.assertEqual("http://ubuntu.com/ubuntu/22.04", record["os"])
        self.assertEqual("utc", record["clock"])
        self.assertEqual("linux", record["property.os_type"])
        self.assertNotIn("due", record)
        self.assertEqual([("virtio", "vda")], self.domain(server).targets)
