"""POST /servers with image_props_override: what else is refused.

The refusals that need no other configuration are in gabbits/refusals.yaml.
"""

import pathlib

from oslo_config import cfg
from tests.functional import case

from imprint import conf

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/admin"


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

    def use_preset(self, name):
        preset = cfg.ConfigOpts()
        conf.register_opts(preset)
        preset([], default_config_files=[str(DOCS / name)])
        options = preset.image_props_override
        self.flags(
            allowed=options.allowed,
            denied=options.denied,
            max_overrides=options.max_overrides,
            group="image_props_override",
        )

    def test_the_preset_against_capacity_leaves_the_guest_to_its_owner(self):
        self.use_preset("hardened-capacity.conf")
        for overrides in (
            {"hw_numa_nodes": "2"},
            {"hw_numa_cpus.0": "0"},
            {"hw_cpu_policy": "dedicated"},
            {"hw_mem_page_size": "large"},
            {"trait:CUSTOM_LICENSED": "required"},
            {"hw_tpm_version": "2.0"},
        ):
            self.refused(403, overrides, next(iter(overrides)))
        hints = {"imprint:hw_cpu_policy": "dedicated"}
        self.refused(403, None, "hw_cpu_policy", hints=hints)
        self.boot({"hw_disk_bus": "ide", "hw_machine_type": "q35"})

    def test_the_preset_of_a_list_allows_nothing_else(self):
        self.use_preset("hardened.conf")
        for overrides in (
            {"hw_machine_type": "q35"},
            {"os_command_line": "quiet"},
            {"hw_numa_nodes": "2"},
            {"os_name": "fedora40"},
        ):
            self.refused(403, overrides, next(iter(overrides)))
        self.refused(403, {"hw_disk_bus": "ide", "hw_pmu": "true"}, "hw_pmu")
        self.boot({"hw_disk_bus": "ide", "hw_vif_model": "e1000"})

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
