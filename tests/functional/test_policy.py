"""Each policy rule, taken from everybody in the operator's own file."""

import json
import pathlib
import tempfile

from tests.functional import case

from imprint.nova import policies

FIELD = "image_props_override"
ASKED = {FIELD: {"hw_disk_bus": "scsi"}}
NEGOTIATED = "compute 2.104, imprint 1.1"


class TestPolicy(case.ApiCase):
    def _setup_services(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name) / "policy.yaml"
        self.file.touch()
        self.flags(policy_file=str(self.file), group="oslo_policy")
        super()._setup_services()

    def set_rules(self, **rules):
        self.file.write_text(json.dumps(rules))

    def call(self, method, path, body=None, *, roles="member,reader"):
        return self.request(
            method,
            path,
            body,
            headers={"OpenStack-API-Version": NEGOTIATED, "X-Roles": roles},
        )

    def calls(self, server):
        """Return the call that each rule is asked for."""
        path = f"/servers/{server['id']}"
        properties = f"{path}/image-properties"
        rebuild = {"rebuild": {"imageRef": case.IMAGE, **ASKED}}
        body = self.body(ASKED[FIELD])
        return {
            policies.CREATE: ("POST", "/servers", body),
            policies.REBUILD: ("POST", f"{path}/action", rebuild),
            policies.PROPERTIES_SHOW: ("GET", properties),
            policies.UPDATE: ("PUT", f"{properties}/overrides", ASKED),
            policies.DELETE: (
                "DELETE",
                f"{properties}/overrides/hw_disk_bus",
            ),
            policies.PREVIEW: ("POST", "/image-properties/preview", body),
        }

    def test_a_call_without_its_rule_is_refused_by_the_name_of_the_rule(self):
        server = self.boot({"hw_disk_bus": "ide"})
        calls = self.calls(server)
        self.assertEqual(
            {rule.name for rule in policies.list_rules()},
            {*calls, policies.SHOW},
        )
        for rule, call in calls.items():
            self.set_rules(**{rule: "!"})
            self.assertRefused(403, self.call(*call), rule)
        kept = self.instance(server).system_metadata
        self.assertEqual("ide", kept["imprint_override:hw_disk_bus"])
        self.assertEqual(
            1, len(self.call("GET", "/servers").json()["servers"])
        )

    def test_a_reader_may_look_and_no_more(self):
        server = self.boot({"hw_disk_bus": "ide"})
        for rule, call in self.calls(server).items():
            answer = self.call(*call, roles="reader")
            if rule == policies.PROPERTIES_SHOW:
                self.assertEqual(200, answer.status_code, answer.text)
            else:
                self.assertRefused(403, answer)

    def test_who_may_not_see_overrides_sees_the_rest_of_the_server(self):
        path = f"/servers/{self.boot({'hw_disk_bus': 'ide'})['id']}"
        self.assertIn(FIELD, self.call("GET", path).json()["server"])
        self.set_rules(**{policies.SHOW: "role:auditor"})
        self.assertNotIn(FIELD, self.call("GET", path).json()["server"])
        shown = self.call("GET", path, roles="auditor,reader").json()["server"]
        self.assertEqual({"hw_disk_bus": "ide"}, shown[FIELD])

    def test_a_role_of_the_operators_own_may_be_asked_for(self):
        self.set_rules(
            **{
                policies.CREATE: (
                    "rule:project_member_or_admin and role:image-tuner"
                )
            }
        )
        call = ("POST", "/servers", self.body(ASKED[FIELD]))
        self.assertRefused(403, self.call(*call), policies.CREATE)
        hints = self.body(hints={"imprint:hw_disk_bus": "scsi"})
        self.assertRefused(403, self.call("POST", "/servers", hints))
        answer = self.call(*call, roles="member,reader,image-tuner")
        self.assertEqual(202, answer.status_code, answer.text)
        self._wait_for_state_change(answer.json()["server"], "ACTIVE")
