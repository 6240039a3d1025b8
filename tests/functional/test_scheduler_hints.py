"""POST /servers with overrides in its scheduler hints."""

import json

from tests.functional import case

FIELD = "image_props_override"
WANTED = {"hw_disk_bus": "ide", "hw_vif_model": "e1000"}
FLAT = {f"imprint:{name}": value for name, value in WANTED.items()}
SPELLINGS = [
    {FIELD: WANTED},
    {FIELD: json.dumps(WANTED)},
    FLAT,
    {name: [value] for name, value in FLAT.items()},
]
KEYS = ["os:scheduler_hints", "OS-SCH-HNT:scheduler_hints"]
OTHER = {"foo": ["bar", "baz"], "imprintish": ["x"]}


class HintsCase(case.BuiltCase):
    def hinted(self, hints, *, key=KEYS[0], overrides=None, **server):
        return {**self.body(overrides, **server), key: hints}

    def create(self, body, **kwargs):
        answer = self.request("POST", "/servers", body, **kwargs)
        self.assertEqual(202, answer.status_code, answer.text)
        return self._wait_for_state_change(
            {"id": answer.json()["server"]["id"]}, "ACTIVE"
        )

    def assertStoredHints(self, expected, server):
        self.assertEqual(expected, self.request_spec(server).scheduler_hints)


class TestSchedulerHints(HintsCase):
    def test_each_spelling_does_what_the_field_of_the_server_does(self):
        for key in KEYS:
            for hints in SPELLINGS:
                server = self.create(self.hinted({**hints, **OTHER}, key=key))
                self.assertOverridden(server, **WANTED)
                shown = self.request("GET", f"/servers/{server['id']}")
                self.assertEqual(WANTED, shown.json()["server"][FIELD])
                self._delete_server(server)

    def test_nothing_of_it_is_a_hint_any_more(self):
        for hints in SPELLINGS:
            server = self.create(self.hinted({**hints, **OTHER}))
            self.assertStoredHints(
                {"foo": ["bar", "baz"], "imprintish": ["x"]}, server
            )
            shown = self.request("GET", f"/servers/{server['id']}").json()
            self.assertEqual(
                {"foo": ["bar", "baz"], "imprintish": ["x"]},
                shown["server"]["scheduler_hints"],
            )
            alone = self.create(self.hinted(hints))
            self.assertStoredHints({}, alone)
            shown = self.request("GET", f"/servers/{alone['id']}").json()
            self.assertEqual({}, shown["server"]["scheduler_hints"])

    def test_other_hints_alone_are_stocks(self):
        server = self.create(self.hinted(OTHER))
        self.assertStoredHints(
            {"foo": ["bar", "baz"], "imprintish": ["x"]}, server
        )
        kept = self.instance(server).system_metadata
        self.assertFalse([key for key in kept if key.startswith("imprint")])

    def test_the_legacy_endpoint_takes_them_too(self):
        url = self.api.base_url
        for hints in SPELLINGS:
            self.api.base_url = url.replace("/v2.1", "/v2")
            body = self.hinted(hints)
            del body["server"]["networks"]
            server = self.create(body)
            self.api.base_url = url
            self.assertStoredHints({}, server)
            self.assertOverridden(server, **WANTED)

    def test_the_oldest_microversion_takes_them_too(self):
        body = self.hinted(FLAT)
        del body["server"]["networks"]
        headers = {"OpenStack-API-Version": "compute 2.1"}
        server = self.create(body, headers=headers)
        self.assertOverridden(server, **WANTED)

    def test_all_servers_of_one_request_are_overridden(self):
        answer = self.request(
            "POST", "/servers", self.hinted(FLAT, min_count=2, max_count=2)
        )
        self.assertEqual(202, answer.status_code, answer.text)
        servers = self.request("GET", "/servers").json()["servers"]
        self.assertEqual(2, len(servers))
        for server in servers:
            self._wait_for_state_change(server, "ACTIVE")
            self.assertOverridden(server, **WANTED)
            self.assertStoredHints({}, server)

    def test_a_value_with_equal_signs_arrives_whole(self):
        self.set_image(kernel_id=case.OTHER_IMAGE, ramdisk_id=None)
        line = 'console=ttyS0 inst.ks="http://h/a?x=1" a=b=c'
        for hints in (
            {"imprint:os_command_line": line},
            {FIELD: json.dumps({"os_command_line": line})},
        ):
            server = self.create(self.hinted(hints))
            self.assertOverridden(server, os_command_line=line)

    def test_no_overrides_in_the_hint_are_none(self):
        for hints in ({FIELD: {}}, {FIELD: "{}"}, {FIELD: " {} "}):
            server = self.create(self.hinted(hints))
            self.assertStoredHints({}, server)


class TestRefusedHints(HintsCase):
    def refused(self, status, body, *words, **kwargs):
        answer = self.request("POST", "/servers", body, **kwargs)
        self.assertRefused(status, answer, *words)
        self.assertNothingCreated()

    def test_two_spellings_are_one_too_many(self):
        for key in KEYS:
            for hints in SPELLINGS:
                self.refused(
                    400,
                    self.hinted(hints, key=key, overrides=WANTED),
                    "image_props_override and as scheduler hint",
                )
        self.refused(
            400,
            self.hinted({**SPELLINGS[0], **FLAT}),
            "scheduler hint image_props_override",
            "scheduler hints imprint:NAME",
        )
        for other in ({}, OTHER, FLAT):
            self.refused(400, {**self.hinted(FLAT), KEYS[1]: other}, *KEYS)

    def test_types_that_carry_nothing(self):
        for value in (None, True, 1, 1.5, [WANTED], ["{}"], "[]", "null"):
            self.refused(
                400, self.hinted({FIELD: value}), f"scheduler hint {FIELD}"
            )
        for value in (None, True, 1, 1.5, {}, [], ["a", "b"], [1], [["a"]]):
            self.refused(
                400,
                self.hinted({"imprint:hw_disk_bus": value}),
                "scheduler hint",
                "imprint:hw_disk_bus",
            )

    def test_the_hint_is_named_as_it_was_spelled(self):
        for hints, *words in (
            (
                {"imprint:hw_disk_buss": "ide"},
                "scheduler hint imprint:hw_disk_buss: 'hw_disk_buss' is not",
                "did you mean hw_disk_bus",
            ),
            (
                {"imprint:hw_disk_bus": "virtio-scsi"},
                "scheduler hint imprint:hw_disk_bus: hw_disk_bus cannot have",
                "hw_scsi_model",
            ),
            ({"imprint:architecture": "i686"}, "use hw_architecture"),
            ({"imprint:": "x"}, "'' is not an image property"),
            ({"imprint:a\nb": "x"}, "imprint:a\\nb"),
            (
                {"imprint:hw_numa_cpus.1": "0"},
                "scheduler hint imprint:hw_numa_cpus.1: hw_numa_cpus.1 needs",
            ),
            (
                {f"imprint:{number}": "x" for number in range(65)},
                "scheduler hints imprint:NAME has 65 properties",
            ),
            (
                {FIELD: dict.fromkeys(map(str, range(65)), "x")},
                f"scheduler hint {FIELD} has 65 properties",
            ),
            ({FIELD: {"hw_disk_buss": "ide"}}, "'hw_disk_buss' is not"),
            (
                {FIELD: '{"hw_disk_bus": "ide", "hw_disk_bus": "scsi"}'},
                f"scheduler hint {FIELD} has 'hw_disk_bus' twice",
            ),
        ):
            self.refused(400, self.hinted(hints), *words)

    def test_what_is_denied_is_denied_in_each_spelling(self):
        name = "trait:HW_CPU_X86_AVX2"
        for hints in (
            {FIELD: {name: "nonsense"}},
            {FIELD: json.dumps({name: "nonsense"})},
            {f"imprint:{name}": "nonsense"},
        ):
            self.refused(
                403,
                self.hinted(hints),
                f"The image property {name} may not be overridden",
            )

    def test_the_gates_stand_in_the_order_of_the_field(self):
        twice = self.hinted({FIELD: 1, **FLAT}, overrides=WANTED)

        def body():
            return json.loads(json.dumps(twice))

        group = FIELD
        self.flags(accept_scheduler_hints=False, enabled=False, group=group)
        self.refused(
            403,
            body(),
            "imprint:image_props_override:create",
            client=self.api_fixture.reader_api,
        )
        self.refused(403, body(), "overrides are switched off here")
        self.flags(enabled=True, group=group)
        self.refused(
            403, body(), "overrides in scheduler hints are switched off here"
        )
        self.flags(accept_scheduler_hints=True, group=group)
        self.refused(400, body(), "one of them is allowed")

    def test_an_operator_may_refuse_hints_and_take_the_field(self):
        self.flags(accept_scheduler_hints=False, group=FIELD)
        for key in KEYS:
            for hints in SPELLINGS:
                self.refused(
                    403, self.hinted(hints, key=key), "scheduler hint '"
                )
        server = self.boot(WANTED, hints=OTHER)
        self.assertOverridden(server, **WANTED)
