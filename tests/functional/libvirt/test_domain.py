"""What a server's overrides make of its domain."""

import copy

from nova import context as nova_context
from oslo_utils.fixture import uuidsentinel as uuids
from tests.functional.case import IMAGE, OTHER_IMAGE
from tests.functional.libvirt import case

COMMAND_LINE = "console=ttyS0 inst.ks=http://h/a?x=1"


class DomainTest(case.LibvirtCase):
    def setUp(self):
        super().setUp()
        self.start_host()

    def image(self, image=IMAGE, **properties):
        """Give an image properties; return what may not change in it."""
        self.glance.images[image]["properties"].update(properties)
        return copy.deepcopy(self.glance.images[image])

    def test_servers_of_one_image_get_the_disk_bus_each_asked_for(self):
        image = self.image()
        plain = self.domain(self.boot())
        sata = self.domain(self.boot({"hw_disk_bus": "sata"}))
        scsi = self.domain(
            self.boot({"hw_disk_bus": "scsi", "hw_scsi_model": "virtio-scsi"})
        )
        again = self.domain(self.boot())

        self.assertEqual(["virtio"], plain.disk_buses)
        self.assertEqual(["sata"], sata.disk_buses)
        self.assertEqual(["scsi"], scsi.disk_buses)
        self.assertEqual(
            ["virtio-scsi"],
            scsi.values("devices/controller[@type='scsi']", "model"),
        )
        self.assertEqual(plain.disk_buses, again.disk_buses)
        self.assertEqual(image, self.glance.images[IMAGE])

    def test_each_guest_gets_its_command_line_byte_for_byte(self):
        image = self.image(kernel_id=OTHER_IMAGE, ramdisk_id=OTHER_IMAGE)
        ours = self.domain(self.boot({"os_command_line": COMMAND_LINE}))
        theirs = self.domain(
            self.boot({"os_command_line": "quiet a='<b>&amp;' \"c\" ünï"})
        )
        self.assertEqual(COMMAND_LINE, ours.text("os/cmdline"))
        self.assertTrue(ours.text("os/kernel").endswith("/kernel"))
        self.assertTrue(ours.text("os/initrd").endswith("/ramdisk"))
        self.assertEqual(
            "quiet a='<b>&amp;' \"c\" ünï", theirs.text("os/cmdline")
        )
        self.assertEqual(image, self.glance.images[IMAGE])

    def test_an_override_wins_over_the_image(self):
        self.image(hw_disk_bus="ide", hw_video_model="vga")
        domain = self.domain(self.boot({"hw_disk_bus": "scsi"}))
        self.assertEqual(["scsi"], domain.disk_buses)
        self.assertEqual(["vga"], domain.values("devices/video/model", "type"))

    def test_a_guest_boots_under_uefi_on_q35(self):
        plain = self.domain(self.boot())
        domain = self.domain(
            self.boot({"hw_firmware_type": "uefi", "hw_machine_type": "q35"})
        )
        self.assertEqual("q35", domain.machine)
        self.assertEqual("efi", domain.tree.find("os").get("firmware"))
        self.assertEqual(["no"], domain.values("os/loader", "secure"))
        self.assertEqual("pc", plain.machine)
        self.assertIsNone(plain.tree.find("os").get("firmware"))

    def test_a_public_image_of_another_project_gets_a_guest_agent(self):
        self.glance.images[IMAGE].update(
            owner=uuids.other_project, visibility="public"
        )
        image = self.image()
        domain = self.domain(self.boot({"hw_qemu_guest_agent": "yes"}))
        self.assertEqual(
            ["org.qemu.guest_agent.0"],
            domain.values("devices/channel/target", "name"),
        )
        self.assertEqual(image, self.glance.images[IMAGE])

    def test_a_guest_gets_the_cpu_topology_within_its_flavor(self):
        flavor = self._create_flavor(vcpu=4)
        domain = self.domain(
            self.boot(
                {
                    "hw_cpu_sockets": "1",
                    "hw_cpu_cores": "2",
                    "hw_cpu_threads": "2",
                },
                flavorRef=flavor,
            )
        )
        (topology,) = domain.tree.findall("cpu/topology")
        self.assertEqual(
            {"sockets": "1", "cores": "2", "threads": "2"},
            dict(topology.attrib),
        )

    def test_a_guest_gets_the_network_device_asked_for(self):
        server = self.boot(
            {"hw_vif_model": "e1000"},
            networks=[{"port": self.neutron.port_1["id"]}],
        )
        # The fake Neutron can leave Nova's cache without the port.
        instance = self.instance(server)
        context = nova_context.get_admin_context()
        context.project_id = instance.project_id
        self.computes["compute1"].manager.network_api.get_instance_nw_info(
            context, instance, force_refresh=True
        )
        domain = self.rebooted(server)
        self.assertEqual(
            ["e1000"], domain.values("devices/interface/model", "type")
        )

    def test_every_server_of_one_request_gets_the_overrides(self):
        answer = self.request(
            "POST",
            "/servers",
            self.body({"hw_disk_bus": "sata"}, min_count=2, max_count=2),
        )
        self.assertEqual(202, answer.status_code, answer.text)
        servers = self.request("GET", "/servers").json()["servers"]
        self.assertEqual(2, len(servers))
        for server in servers:
            self._wait_for_state_change(server, "ACTIVE")
            self.assertEqual(["sata"], self.domain(server).disk_buses)

    def test_a_server_of_a_volume_gets_the_overrides(self):
        root = {
            "boot_index": 0,
            "source_type": "volume",
            "destination_type": "volume",
            "uuid": self.cinder.IMAGE_BACKED_VOL,
        }
        server = self.boot(
            {"hw_disk_bus": "sata", "hw_machine_type": "q35"},
            imageRef="",
            block_device_mapping_v2=[root],
        )
        domain = self.domain(server)
        self.assertEqual(["sata"], domain.disk_buses)
        self.assertEqual("q35", domain.machine)
        self.assertEqual("q35", self.rebooted(server).machine)

    def test_a_server_of_a_snapshot_has_overrides_of_its_own(self):
        server = self.boot({"hw_disk_bus": "sata", "hw_video_model": "vga"})
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {"createImage": {"name": "snapshot"}},
        )
        self.assertEqual(202, answer.status_code, answer.text)
        domain = self.domain(
            self.boot(
                {"hw_disk_bus": "scsi"}, imageRef=answer.json()["image_id"]
            )
        )
        # The snapshot carries what the first server had.
        self.assertEqual(["vga"], domain.values("devices/video/model", "type"))
        self.assertEqual(["scsi"], domain.disk_buses)
        self.assertEqual(["sata"], self.domain(server).disk_buses)
