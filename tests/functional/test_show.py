"""GET /servers: who sees the overrides of a server, and when."""

from oslo_utils.fixture import uuidsentinel
from tests.functional import case

OVERRIDES = {"hw_disk_bus": "ide", "hw_numa_nodes": "1"}


class TestShow(case.ApiCase):
    def show(self, server, **kwargs):
        answer = self.request("GET", f"/servers/{server['id']}", **kwargs)
        self.assertEqual(200, answer.status_code, answer.text)
        return answer.json()["server"]

    def test_only_who_negotiated_sees_the_overrides(self):
        server = self.boot(OVERRIDES)
        other = self.boot()
        for version in (
            "compute 2.104, imprint 1.0",
            "imprint latest",
            "compute 2.1, imprint 1.0",
        ):
            headers = {"OpenStack-API-Version": version}
            shown = self.show(server, headers=headers)
            self.assertEqual(OVERRIDES, shown["image_props_override"])
            shown = self.show(other, headers=headers)
            self.assertEqual({}, shown["image_props_override"])
        headers = {
            "OpenStack-API-Version": "compute 2.104",
            "X-OpenStack-Imprint-API-Version": "1.0",
        }
        shown = self.show(server, headers=headers)
        self.assertEqual(OVERRIDES, shown["image_props_override"])
        for version in ("compute 2.104", "compute 2.1", ""):
            headers = {"OpenStack-API-Version": version}
            shown = self.show(server, headers=headers)
            self.assertNotIn("image_props_override", shown)

    def test_no_other_answer_has_the_field(self):
        server = self.boot(OVERRIDES)
        path = f"/servers/{server['id']}"
        for answer in (
            self.request("GET", "/servers"),
            self.request("GET", "/servers/detail"),
            self.request("PUT", path, {"server": {"name": "renamed"}}),
            self.request(
                "POST",
                f"{path}/action",
                {"rebuild": {"imageRef": case.IMAGE}},
            ),
        ):
            self.assertIn(answer.status_code, (200, 202), answer.text)
            self.assertNotIn("image_props_override", answer.text)

    def test_who_may_see_the_server_by_policy_sees_them(self):
        server = self.boot(OVERRIDES)
        for client in (self.api_fixture.reader_api, self.admin_api):
            shown = self.show(server, client=client)
            self.assertEqual(OVERRIDES, shown["image_props_override"])

        # another project does not even see the server
        answer = self.request(
            "GET",
            f"/servers/{server['id']}",
            headers={"X-Auth-Project-Id": uuidsentinel.other_project},
        )
        self.assertEqual(404, answer.status_code)
        self.assertIn("imprint 1.0", answer.headers["OpenStack-API-Version"])

    def test_nothing_that_a_tenant_writes_is_a_record(self):
        server = self.boot(metadata={"imprint_override:hw_disk_bus": "ide"})
        self.assertEqual({}, self.show(server)["image_props_override"])

        self.set_image(**{"imprint_override:hw_disk_bus": "ide"})
        self.assertEqual({}, self.show(self.boot())["image_props_override"])
        server = self.boot({"hw_vif_model": "e1000"})
        self.assertEqual(
            {"hw_vif_model": "e1000"},
            self.show(server)["image_props_override"],
        )

    def test_the_operator_can_hide_them(self):
        server = self.boot(OVERRIDES)
        # a server is shown to any role where the operator says so
        self.policy.set_rules(
            {"os_compute_api:servers:show": "@"}, overwrite=False
        )
        client = self.api_fixture.other_api
        shown = self.show(server, client=client)
        self.assertEqual(server["id"], shown["id"])
        self.assertNotIn("image_props_override", shown)
