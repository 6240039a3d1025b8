"""Disks of a server whose ``hw_disk_bus`` changes after it was built.

What changes it is tested beside it (rebuild, change of a stopped server);
here the property changes in the server's system metadata, as they leave it.
"""

from oslo_utils.fixture import uuidsentinel as uuids
from tests.functional.case import IMAGE
from tests.functional.libvirt import case

from imprint.nova import disk_bus

DATA = {
    "source_type": "volume",
    "destination_type": "volume",
    "uuid": uuids.data,
    "boot_index": -1,
}


class DiskBusTest(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.start_host()
        self.flavor = self._create_flavor(ephemeral=1, swap=1)

    def local_root(self, **more):
        return {
            "source_type": "image",
            "destination_type": "local",
            "uuid": IMAGE,
            "boot_index": 0,
            **more,
        }

    def stopped(self, server):
        self._stop_server(server)
        return server

    def change(self, server, **properties):
        """Change properties of a server that is off; return who follows."""
        instance = self.instance(server)
        before = instance.image_meta.properties
        followers = disk_bus.realign(
            instance,
            self.mappings(server),
            {"hw_disk_bus": before.hw_disk_bus},
            properties,
        )
        del instance.system_metadata["image_hw_disk_bus"]
        for name, value in properties.items():
            instance.system_metadata[f"image_{name}"] = value
        instance.save()
        return followers

    def started(self, server):
        del self.domains[server["id"]]
        self._start_server(server)
        return self.domain(server)

    def test_local_disks_follow_and_a_data_volume_stays(self):
        server = self.stopped(
            self.boot(
                flavorRef=self.flavor,
                block_device_mapping_v2=[
                    self.local_root(),
                    DATA | {"disk_bus": "scsi"},
                ],
            )
        )
        self.assertEqual(3, len(self.change(server, hw_disk_bus="scsi")))
        self.started(server)
        # The volume has the first name of the bus already.
        self.assertAligned(
            server,
            ("scsi", "sda"),
            ("scsi", "sdb"),
            ("scsi", "sdc"),
            ("scsi", "sdd"),
        )
        (data,) = [m for m in self.mappings(server) if m.is_volume]
        self.assertEqual("/dev/sda", data.device_name)

    def test_a_bus_that_the_request_asked_for_stays(self):
        """Also where it is the one that the host would have chosen."""
        server = self.stopped(
            self.boot(
                flavorRef=self.flavor,
                block_device_mapping_v2=[self.local_root(disk_bus="virtio")],
            )
        )
        followers = self.change(server, hw_disk_bus="sata")
        self.assertEqual(["blank"] * 2, [one.source_type for one in followers])
        self.started(server)
        self.assertAligned(
            server, ("virtio", "vda"), ("sata", "sda"), ("sata", "sdb")
        )

    def test_the_host_chooses_where_the_property_went(self):
        server = self.stopped(self.boot({"hw_disk_bus": "sata"}))
        self.change(server)
        self.assertEqual(["virtio"], self.started(server).disk_buses)
        self.assertAligned(server, ("virtio", "vda"))
        # Registered again, so that it stays.
        self.assertEqual(
            "virtio",
            self.instance(server).system_metadata["image_hw_disk_bus"],
        )

    def test_a_root_volume_follows(self):
        server = self.stopped(self.boot_volume({"hw_disk_bus": "sata"}))
        self.change(server, hw_disk_bus="ide")
        self.started(server)
        self.assertAligned(server, ("ide", "hda"))

    def test_nothing_follows_what_does_not_change(self):
        server = self.stopped(self.boot({"hw_disk_bus": "sata"}))
        self.assertEqual([], self.change(server, hw_disk_bus="sata"))

    def test_a_resize_of_a_server_that_is_off_settles_its_disks(self):
        self.start_host("compute2")
        server = self.stopped(self.boot({"hw_disk_bus": "sata"}))
        self.change(server, hw_disk_bus="scsi")
        domain = self.migrated(
            server, self._create_flavor(vcpu=4, ephemeral=0)
        )
        self.assertEqual([("scsi", "sda")], domain.targets)
        self.assertEqual({("scsi", "/dev/sda")}, self.written(server))
