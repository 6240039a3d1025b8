"""The next guest of a server whose overrides changed while it was off."""

import json

from nova import context as nova_context
from nova import objects
from tests.functional import case as api_case
from tests.functional.case import IMAGE, OTHER_IMAGE
from tests.functional.libvirt import case


class ChangeLaterTest(case.LibvirtCase):
    negotiated = api_case.NEGOTIATED_1_1

    def setUp(self):
        super().setUp()
        self.start_host()

    def described(self, server):
        answer = self.request(
            "GET", f"/servers/{server['id']}/image-properties"
        )
        return answer.json()["image_properties"]

    def events(self, server, action):
        """Return what the events of an action say of overrides."""
        context = nova_context.get_admin_context()
        (found,) = [
            one
            for one in objects.InstanceActionList.get_by_instance_uuid(
                context, server["id"]
            )
            if one.action == action
        ]
        return [
            json.loads(event.details)
            for event in objects.InstanceActionEventList.get_by_action(
                context, found.id
            )
            if event.event == "image_props_override"
        ]

    def test_the_next_start_has_the_new_hardware(self):
        self.glance.images[IMAGE]["properties"]["hw_vif_model"] = "e1000"
        server = self.boot()
        self.assertEqual(["virtio"], self.domain(server).disk_buses)
        self._stop_server(server)
        self.put(
            server,
            {"hw_disk_bus": "scsi", "hw_video_model": "vga", "os_name": "x"},
        )
        domain = self.started(server)
        self.assertEqual(["scsi"], domain.disk_buses)
        self.assertEqual(["vga"], domain.values("devices/video/model", "type"))

        self._stop_server(server)
        self.delete(server, "hw_disk_bus")
        self.delete(server, "hw_video_model")
        domain = self.started(server)
        self.assertEqual(["virtio"], domain.disk_buses)
        self.assertEqual(
            ["virtio"], domain.values("devices/video/model", "type")
        )
        # Nova's own choice is registered again
        described = self.described(server)
        for name in ("hw_disk_bus", "hw_video_model"):
            self.assertEqual(
                {"value": "virtio", "origin": "nova"}, described[name]
            )
        self.assertEqual("image", described["hw_vif_model"]["origin"])
        self.assertEqual("override", described["os_name"]["origin"])

    def test_a_machine_type_comes_back_whatever_the_default_is_by_then(self):
        server = self.boot(config_drive=True)
        self.assertEqual("pc", self.domain(server).machine)
        cdrom = "devices/disk[@device='cdrom']/target"
        self.assertEqual(["ide"], self.domain(server).values(cdrom, "bus"))
        self._stop_server(server)
        self.put(server, {"hw_machine_type": "q35"})
        domain = self.started(server)
        self.assertEqual("q35", domain.machine)
        # the bus that was registered with pc would keep it from starting
        self.assertEqual(["sata"], domain.values(cdrom, "bus"))

        self.flags(hw_machine_type="x86_64=q35", group="libvirt")
        self._stop_server(server)
        self.delete(server, "hw_machine_type")
        domain = self.started(server)
        self.assertEqual("pc", domain.machine)
        self.assertEqual(["ide"], domain.values(cdrom, "bus"))
        self.assertEqual(
            {"value": "pc", "origin": "nova"},
            self.described(server)["hw_machine_type"],
        )

    def test_an_unshelved_server_has_what_changed_meanwhile(self):
        """Its snapshot in Glance still has what was before."""
        self.flags(shelved_offload_time=0)
        server = self.boot({"hw_disk_bus": "scsi", "hw_video_model": "vga"})
        self._shelve_server(server)
        (snapshot,) = self.snapshots(f"{server['name']}-shelved")
        self.assertEqual("scsi", snapshot["hw_disk_bus"])
        self.put(server, {"hw_video_model": "cirrus"})
        del self.domains[server["id"]]
        self._unshelve_server(server)
        domain = self.domain(server)
        self.assertEqual(["virtio"], domain.disk_buses)
        self.assertEqual(
            ["cirrus"], domain.values("devices/video/model", "type")
        )
        described = self.described(server)
        self.assertEqual("cirrus", described["hw_video_model"]["value"])
        self.assertEqual("nova", described["hw_disk_bus"]["origin"])

    def test_a_shelved_server_on_its_host_changes_like_a_stopped_one(self):
        self.flags(shelved_offload_time=-1)
        server = self.boot({"hw_disk_bus": "scsi"})
        self._shelve_server(server, expected_state="SHELVED")
        self.put(server, {"hw_disk_bus": "sata"})
        del self.domains[server["id"]]
        self._unshelve_server(server)
        self.assertEqual(["sata"], self.domain(server).disk_buses)

    def test_create_and_rebuild_record_their_overrides(self):
        server = self.boot({"hw_disk_bus": "scsi", "os_name": "x"})
        self.assertEqual(
            [
                {
                    "hw_disk_bus": {"before": None, "after": "scsi"},
                    "os_name": {"before": None, "after": "x"},
                }
            ],
            self.events(server, "create"),
        )
        answer = self.request(
            "POST",
            f"/servers/{server['id']}/action",
            {
                "rebuild": {
                    "imageRef": OTHER_IMAGE,
                    "image_props_override": {"os_name": "x"},
                }
            },
        )
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_state_change(server, "ACTIVE")
        self.assertEqual(
            [{"hw_disk_bus": {"before": "scsi", "after": None}}],
            self.events(server, "rebuild"),
        )
        # one without overrides has no such event
        self.assertEqual([], self.events(self.boot(), "create"))
