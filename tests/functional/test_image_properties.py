"""GET /servers/{id}/image-properties: what a server has, and from where."""

from nova.compute import task_states
from nova.tests import fixtures as nova_fixtures
from oslo_utils.fixture import uuidsentinel
from tests.functional import case

# What the images of the fixture say beside what a test gives them.
FIXTURES = {"hw_architecture": {"value": "x86_64", "origin": "image"}}


class TestImageProperties(case.BuiltCase):
    negotiated = case.NEGOTIATED_1_1

    def get(self, server, **kwargs):
        return self.request(
            "GET", f"/servers/{server['id']}/image-properties", **kwargs
        )

    def assertDescribed(self, expected, server, **kwargs):
        answer = self.get(server, **kwargs)
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual(
            {"image_properties": FIXTURES | expected}, answer.json()
        )

    def test_an_override_shows_what_the_image_said(self):
        self.set_image(hw_disk_bus="virtio", hw_vif_model="e1000", private="x")
        server = self.boot({"hw_disk_bus": "ide", "os_name": "fedora40"})
        self.assertDescribed(
            {
                "hw_disk_bus": {
                    "value": "ide",
                    "origin": "override",
                    "image": "virtio",
                },
                "hw_vif_model": {"value": "e1000", "origin": "image"},
                "os_name": {"value": "fedora40", "origin": "override"},
            },
            server,
        )

    def test_legacy_names_are_given_as_current_ones(self):
        self.set_image(
            vmware_adaptertype="lsiLogic", vmware_ostype="other", x="y"
        )
        said = {
            "hw_disk_bus": {"value": "scsi", "origin": "image"},
            "hw_scsi_model": {"value": "lsiLogic", "origin": "image"},
            "os_distro": {"value": "other", "origin": "image"},
        }
        self.assertDescribed(said, self.boot())
        overridden = {"value": "ide", "origin": "override", "image": "scsi"}
        said.pop("hw_scsi_model")
        self.assertDescribed(
            said | {"hw_disk_bus": overridden},
            self.boot({"hw_disk_bus": "ide"}),
        )

    def test_nodes_and_traits_are_spelled_as_glance_does(self):
        self.flags(denied=[], group="image_props_override")
        self.set_image(
            **{
                "trait:COMPUTE_NODE": "required",
                "trait:CUSTOM_A": "forbidden",
                "hw_numa_nodes": "1",
                "hw_numa_cpus.0": "0",
                "hw_numa_mem.0": "512",
                # no node 1: Nova does not read it
                "hw_numa_mem.2": "512",
            }
        )
        server = self.boot({"hw_numa_cpus.0": "0-0"})
        self.assertDescribed(
            {
                "trait:COMPUTE_NODE": {
                    "value": "required",
                    "origin": "image",
                },
                "hw_numa_nodes": {"value": "1", "origin": "image"},
                "hw_numa_mem.0": {"value": "512", "origin": "image"},
                "hw_numa_cpus.0": {
                    "value": "0-0",
                    "origin": "override",
                    "image": "0",
                },
            },
            server,
        )

    def test_what_nova_registered_has_its_own_origin(self):
        self.set_image(hw_video_model="vga")
        server = self.boot({"hw_disk_bus": "ide"})
        instance = self.instance(server)
        # as the libvirt driver does once the guest is built
        instance.system_metadata["image_hw_vif_model"] = "virtio"
        instance.save()
        self.assertDescribed(
            {
                "hw_disk_bus": {"value": "ide", "origin": "override"},
                "hw_video_model": {"value": "vga", "origin": "image"},
                "hw_vif_model": {"value": "virtio", "origin": "nova"},
            },
            server,
        )

    def test_a_volume_backed_server(self):
        volume = {
            "boot_index": 0,
            "source_type": "image",
            "destination_type": "volume",
            "uuid": case.IMAGE,
            "volume_size": 1,
        }
        self.set_image(hw_disk_bus="virtio")
        server = self.boot(
            {"hw_disk_bus": "ide"},
            imageRef="",
            block_device_mapping_v2=[volume],
        )
        self.assertDescribed(
            {
                "hw_disk_bus": {
                    "value": "ide",
                    "origin": "override",
                    "image": "virtio",
                }
            },
            server,
        )

    def test_a_server_that_no_host_was_found_for(self):
        self.flags(denied=[], group="image_props_override")
        self.set_image(hw_vif_model="e1000")
        answer = self.request(
            "POST",
            "/servers",
            self.body({"trait:CUSTOM_NOWHERE": "required"}),
        )
        self.assertEqual(202, answer.status_code, answer.text)
        expected = {
            "hw_vif_model": {"value": "e1000", "origin": "image"},
            "trait:CUSTOM_NOWHERE": {
                "value": "required",
                "origin": "override",
            },
        }
        created = answer.json()["server"]
        # before the conductor looks for a host, and after
        self.assertDescribed(expected, created)
        server = self._wait_for_state_change(created, "ERROR")
        self.assertDescribed(expected, server)

    def test_a_shelved_server(self):
        server = self.boot({"hw_disk_bus": "ide"})
        self._shelve_server(server)
        self.assertDescribed(
            {"hw_disk_bus": {"value": "ide", "origin": "override"}}, server
        )

    def test_a_server_without_a_request_spec(self):
        server = self.boot()
        self.request_spec(server).destroy()
        self.assertDescribed({}, server)

    def test_only_who_negotiated_finds_the_route(self):
        server = self.boot()
        for version in ("compute 2.104", "compute 2.104, imprint 1.0", ""):
            answer = self.get(
                server, headers={"OpenStack-API-Version": version}
            )
            self.assertRefused(404, answer)
        for version in ("imprint latest", "compute 2.1, imprint 1.1"):
            self.assertDescribed(
                {}, server, headers={"OpenStack-API-Version": version}
            )
        headers = {
            "OpenStack-API-Version": "compute 2.104",
            "X-OpenStack-Imprint-API-Version": "1.1",
        }
        self.assertDescribed({}, server, headers=headers)

    def test_who_may_see_the_server_may_see_them(self):
        server = self.boot()
        for client in (self.api_fixture.reader_api, self.admin_api):
            self.assertDescribed({}, server, client=client)
        foreign = {"X-Auth-Project-Id": uuidsentinel.other_project}
        answer = self.get(server, headers=foreign)
        self.assertRefused(404, answer, server["id"])
        unknown = self.get({"id": uuidsentinel.nobody})
        self.assertRefused(404, unknown, uuidsentinel.nobody)
        # no word differs between a foreign server and none
        self.assertEqual(
            unknown.text.replace(uuidsentinel.nobody, server["id"]),
            answer.text,
        )
        self.assertRefused(404, self.get({"id": "no-uuid"}), "no-uuid")

    def test_the_operator_can_hide_them(self):
        server = self.boot()
        rule = "os_compute_api:imprint:image_properties:show"
        # Imprint's enforcer reads the same file as Nova's
        self.assertRefused(
            403, self.get(server, client=self.api_fixture.other_api), rule
        )

    def test_a_query_is_refused_as_nova_does(self):
        server = self.boot()
        path = f"/servers/{server['id']}/image-properties?all=1"
        self.assertRefused(400, self.request("GET", path), "all")
        answer = self.request(
            "GET",
            path,
            headers={"OpenStack-API-Version": "compute 2.101, imprint 1.1"},
        )
        self.assertEqual(200, answer.status_code, answer.text)

    def test_what_a_tenant_writes_is_no_record(self):
        self.set_image(
            **{
                "imprint_override:hw_disk_bus": "ide",
                "imprint_image:hw_vif_model": "e1000",
                "hw_vif_model": "virtio",
            }
        )
        server = self.boot(
            {"hw_vif_model": "rtl8139"},
            metadata={"imprint_image:hw_vif_model": "e1000"},
        )
        self.assertDescribed(
            {
                "hw_vif_model": {
                    "value": "rtl8139",
                    "origin": "override",
                    "image": "virtio",
                }
            },
            server,
        )

    def test_a_server_that_is_being_deleted(self):
        server = self.boot({"hw_disk_bus": "ide"})
        instance = self.instance(server)
        instance.task_state = task_states.DELETING
        instance.save()
        self.assertDescribed(
            {"hw_disk_bus": {"value": "ide", "origin": "override"}}, server
        )
        instance.task_state = None
        instance.save()
        self._delete_server(server)
        self.assertRefused(404, self.get(server), server["id"])

    def test_a_server_whose_cell_is_down_is_like_its_metadata(self):
        server = self.boot()
        with nova_fixtures.DownCellFixture():
            answer = self.get(server)
            novas = self.request("GET", f"/servers/{server['id']}/metadata")
        self.assertEqual(novas.status_code, answer.status_code)
        self.assertNotIn("image_properties", answer.text)
