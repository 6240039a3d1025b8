"""POST /servers with image_props_override: what is built and recorded."""

import copy
import logging

from oslo_utils.fixture import uuidsentinel
from tests.functional import case

COMMAND_LINE = "console=ttyS0 inst.ks=http://h/a?x=1"


class TestOverride(case.BuiltCase):
    def test_a_command_line_arrives_whole(self):
        self.set_image(kernel_id=case.OTHER_IMAGE, ramdisk_id=None)
        for line in (COMMAND_LINE, "a=b=c", "x" * 255, ""):
            server = self.boot({"os_command_line": line})
            self.assertOverridden(server, os_command_line=line)
            self._delete_server(server)

    def test_nova_shows_the_effective_properties(self):
        self.set_image(hw_disk_bus="scsi", hw_vif_model="e1000")
        server = self.boot({"hw_disk_bus": "ide"})
        shown = server["image"]["properties"]
        self.assertEqual("ide", shown["hw_disk_bus"])
        self.assertEqual("e1000", shown["hw_vif_model"])

    def test_raw_readers_of_nova_see_the_override(self):
        self.flags(denied=[], group="image_props_override")
        server = self.boot({"os_type": "windows", "hw_architecture": "x86_64"})
        instance = self.instance(server)
        self.assertEqual("windows", instance.os_type)
        self.assertEqual("x86_64", instance.architecture)

    def test_nodes_of_the_override_are_the_servers(self):
        self.set_image(
            **{
                "hw_numa_nodes": "2",
                "hw_numa_cpus.0": "0",
                "hw_numa_cpus.1": "1",
                "hw_numa_mem.0": "1024",
                "hw_numa_mem.1": "1024",
            }
        )
        overrides = {
            "hw_numa_nodes": "1",
            "hw_numa_cpus.0": "0-1",
            "hw_numa_mem.0": "2048",
        }
        flavor = self._create_flavor(disk=1, ephemeral=0)
        answer = self.request(
            "POST", "/servers", self.body(overrides, flavorRef=flavor)
        )
        self.assertEqual(202, answer.status_code, answer.text)
        spec = self.request_spec(answer.json()["server"])
        (cell,) = spec.numa_topology.cells
        self.assertEqual({0, 1}, cell.total_cpus)
        self.assertEqual(2048, cell.memory)

    def test_an_allowed_trait_is_in_the_request_of_the_scheduler(self):
        self.flags(denied=[], group="image_props_override")
        answer = self.request(
            "POST",
            "/servers",
            self.body({"trait:HW_CPU_X86_AVX2": "required"}),
        )
        self.assertEqual(202, answer.status_code, answer.text)
        spec = self.request_spec(answer.json()["server"])
        self.assertEqual(
            ["HW_CPU_X86_AVX2"], spec.image.properties.traits_required
        )

    def test_the_image_of_another_project_stays_as_it_is(self):
        image = self.glance.images[case.IMAGE]
        image["owner"] = uuidsentinel.other_project
        before = copy.deepcopy(self.glance.images)
        server = self.boot({"hw_qemu_guest_agent": "yes"})
        self.assertIs(True, self.built[-1].hw_qemu_guest_agent)
        self.assertEqual(
            "yes",
            self.instance(server).system_metadata["image_hw_qemu_guest_agent"],
        )
        self.assertEqual(before, self.glance.images)

    def test_os_name_is_recorded_though_nova_has_no_such_field(self):
        server = self.boot({"os_name": "fedora40"})
        kept = self.instance(server).system_metadata
        self.assertEqual("fedora40", kept["image_os_name"])

    def test_the_next_server_has_nothing_of_it(self):
        self.boot({"hw_disk_bus": "ide"})
        for nothing in (None, {}):
            kept = self.instance(self.boot(nothing)).system_metadata
            self.assertNotIn("image_hw_disk_bus", kept)
            self.assertFalse([key for key in kept if "override" in key])

    def test_all_servers_of_one_request_are_overridden(self):
        answer = self.request(
            "POST",
            "/servers",
            self.body(
                {"hw_disk_bus": "ide"},
                min_count=2,
                max_count=2,
                return_reservation_id=True,
            ),
        )
        self.assertEqual(202, answer.status_code, answer.text)
        servers = self.request("GET", "/servers").json()["servers"]
        self.assertEqual(2, len(servers))
        for server in servers:
            self._wait_for_state_change(server, "ACTIVE")
            self.assertOverridden(server, hw_disk_bus="ide")

    def test_names_are_logged_and_values_are_not(self):
        records = []
        handler = logging.Handler()
        handler.emit = records.append
        logger = logging.getLogger("imprint")
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        server = self.boot(
            {"hw_machine_type": "secret-value", "hw_disk_bus": "ide"}
        )
        (record,) = records
        self.assertEqual("INFO", record.levelname)
        self.assertIn("hw_disk_bus, hw_machine_type", record.getMessage())
        self.assertNotIn("secret", record.getMessage())
        # what Nova's log shows beside it
        self.assertEqual(server["id"], record.instance.uuid)
        self.assertEqual(server["tenant_id"], record.context.project_id)

    def test_the_legacy_endpoint_takes_overrides_too(self):
        url = self.api.base_url
        self.api.base_url = url.replace("/v2.1", "/v2")
        body = self.body({"hw_disk_bus": "ide"})
        del body["server"]["networks"]
        answer = self.request("POST", "/servers", body)
        self.assertEqual(202, answer.status_code, answer.text)
        created = answer.json()["server"]
        shown = self.request("GET", f"/servers/{created['id']}")
        self.assertEqual(
            {"hw_disk_bus": "ide"},
            shown.json()["server"]["image_props_override"],
        )
        self.assertEqual("imprint 1.0", shown.headers["OpenStack-API-Version"])
        self.api.base_url = url
        server = self._wait_for_state_change(created, "ACTIVE")
        self.assertOverridden(server, hw_disk_bus="ide")
