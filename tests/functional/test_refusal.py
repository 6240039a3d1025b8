"""POST /servers with image_props_override: what else is refused.

The refusals that need no other configuration are in gabbits/refusals.yaml.
"""

from tests.functional import case


class TestRefusal(case.ApiCase):
    def refused(self, status, overrides, *words, client=None, **server):
        answer = self.request(
            "POST",
            "/servers",
            self.body(overrides, **server),
            client=client,
        )
        self.assertRefused(status, answer, *words)
        self.assertNothingCreated()

    def test_the_operator_decides(self):
        group = "image_props_override"
        overrides = {"hw_disk_bus": "ide"}
        self.flags(allowed=["os_*"], group=group)
        self.refused(403, overrides, "hw_disk_bus")
        self.flags(allowed=["*"], denied=["hw_disk_*"], group=group)
        self.refused(403, overrides, "hw_disk_bus")
        self.flags(denied=[], max_overrides=0, group=group)
        self.refused(400, overrides, "at most 0")
        self.flags(enabled=False, max_overrides=64, group=group)
        self.refused(403, overrides, "switched off")

    def test_the_policy_of_the_caller_counts(self):
        self.refused(
            403,
            {"hw_disk_bus": "nonsense"},
            "imprint:image_props_override:create",
            client=self.api_fixture.reader_api,
        )

    def test_the_answer_to_a_list_that_is_not_denied(self):
        self.flags(denied=[], group="image_props_override")
        self.refused(400, {"traits_required": "x"}, "trait:NAME=required")

    def test_odd_bodies_are_400(self):
        deep = b"[" * 200 + b"]" * 200
        for body in (
            b"",
            b"null",
            b"[]",
            b'"server"',
            b"{}",
            b'{"server": null}',
            b'{"server": []}',
            b'{"server": "image_props_override"}',
            b'{"server": {"image_props_override": {"hw_cpu_cores": %s}}}'
            % (b"9" * 5000),
            b'{"server": {"image_props_override": %s}}' % deep,
            b'{"server": {"image_props_override": {"a": 1e999}}}',
            b'{"server": {"image_props_override": {"\\ud800": "\\udfff"}}}',
        ):
            answer = self.request("POST", "/servers", body)
            self.assertRefused(400, answer)

    def test_update_and_rebuild_take_no_overrides(self):
        server = self.boot({"hw_disk_bus": "ide"})
        path = f"/servers/{server['id']}"
        asked = {"image_props_override": {"hw_disk_bus": "scsi"}}
        url = self.api.base_url
        for version in ("/v2.1", "/v2"):
            self.api.base_url = url.replace("/v2.1", version)
            answer = self.request(
                "PUT", path, {"server": {"name": "n", **asked}}
            )
            self.assertRefused(400, answer, "image_props_override")
            answer = self.request(
                "POST",
                f"{path}/action",
                {"rebuild": {"imageRef": case.IMAGE, **asked}},
            )
            self.assertRefused(400, answer, "image_props_override")
        self.api.base_url = url
        kept = self.instance(server).system_metadata
        self.assertEqual("ide", kept["image_hw_disk_bus"])
