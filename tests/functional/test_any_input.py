"""Whatever JSON arrives at POST /servers, Nova's API never answers 500.

The layers below are tested with thousands of values of their own, see
tests/unit; here values pass the whole pipeline, down to where Nova would
start to build.
"""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st
from nova.objects import fields
from nova.objects.image_meta import ImageMetaProps
from tests import json_values
from tests.functional import case

from imprint.nova import image_properties, scheduler_hints

VOCABULARY = image_properties.vocabulary()
NAMES = [
    *sorted(VOCABULARY.fields),
    *(f"hw_numa_cpus.{node}" for node in range(3)),
    *(f"hw_numa_mem.{node}" for node in range(3)),
    "trait:CUSTOM_A",
    "trait:HW_CPU_X86_AVX2",
]
COMMON = ["0", "1", "2", "512", "4096", "2147483647", "true", "no", "0-1"]
COMMON += ["^0", "0-16383", "any", "large", "2MB", "1GB", "required", ""]
WORDS = [*NAMES, *sorted(VOCABULARY.legacy), *VOCABULARY.inexpressible]

FLAVORS = [
    {},
    {"hw:mem_page_size": "any"},
    {"hw:numa_nodes": "1"},
    {"hw:cpu_policy": "dedicated"},
    {"hw:cpu_policy": "shared", "hw:cpu_realtime": "yes"},
    {"hw:serial_port_count": "2"},
]

texts, values = json_values.build(WORDS)


def legal(name):
    """Return values that the property may well have."""
    field = ImageMetaProps.fields.get(name)
    if isinstance(field, fields.BaseEnumField):
        return st.sampled_from(list(field.valid_values))
    return st.sampled_from(COMMON)


# Imprint's only: other hints are Nova's, which answers null with 500.
hinted = st.dictionaries(
    st.just("image_props_override")
    | (st.sampled_from(NAMES) | texts).map("imprint:{}".format),
    values | st.sampled_from(['{"hw_disk_bus": "ide"}', '{"a": 1, "a": 2}']),
    max_size=3,
)
# Legal more often than not: these come furthest.
likely = st.lists(st.sampled_from(NAMES), unique=True, max_size=8).flatmap(
    lambda names: st.fixed_dictionaries({name: legal(name) for name in names})
)
bodies = st.one_of(
    values,
    st.fixed_dictionaries({"server": values}),
    st.dictionaries(
        st.sampled_from(["server", "image_props_override"]) | texts,
        st.dictionaries(
            st.sampled_from(["name", "image_props_override"]) | texts,
            values,
            max_size=3,
        ),
        max_size=2,
    ),
)


class TestAnyInput(case.ApiCase):
    ADMIN_API = True

    def setUp(self):
        super().setUp()
        self.flags(denied=[], group="image_props_override")
        self.flags(instances=-1, cores=-1, ram=-1, group="quota")
        # Nova's API is done with a request here
        self.stub_out(
            "nova.conductor.api.ComputeTaskAPI.schedule_and_build_instances",
            lambda *args, **kwargs: None,
        )
        self.flavors = [
            self._create_flavor(
                name=f"flavor{number}", vcpu=2, disk=20, extra_spec=specs
            )
            for number, specs in enumerate(FLAVORS)
        ]

    def assertAnswered(self, body):
        answer = self.request("POST", "/servers", json.dumps(body).encode())
        self.assertIn(answer.status_code, (202, 400, 403), answer.text)
        return answer.status_code

    def test_likely_overrides_are_taken_or_refused(self):
        statuses = []

        @example({"hw_disk_bus": "sata"}, self.flavors[0])
        @example({"hw_disk_bus": "none"}, self.flavors[0])
        @settings(max_examples=300)
        @given(likely, st.sampled_from(self.flavors))
        def post(overrides, flavor):
            body = self.body(overrides, flavorRef=flavor)
            statuses.append(self.assertAnswered(body))

        post()
        # else the values would say nothing of what lies behind
        self.assertIn(202, statuses)
        self.assertIn(400, statuses)

    def test_any_overrides_are_taken_or_refused(self):
        @settings(max_examples=300)
        @given(st.dictionaries(texts, values, max_size=3) | values)
        def post(overrides):
            body = self.body()
            body["server"]["image_props_override"] = overrides
            self.assertAnswered(body)

        post()

    def test_likely_overrides_in_hints_do_what_the_field_does(self):
        # what lies behind the carrier is tested above
        @settings(max_examples=100)
        @given(likely, st.booleans())
        def post(overrides, flat):
            native = self.assertAnswered(self.body(overrides))
            hints = {"image_props_override": json.dumps(overrides)}
            if flat:
                hints = {f"imprint:{k}": v for k, v in overrides.items()}
            self.assertEqual(
                native, self.assertAnswered(self.body(hints=hints))
            )

        post()

    def test_any_hints_are_taken_or_refused(self):
        @settings(max_examples=300)
        @given(hinted, st.sampled_from(scheduler_hints.KEYS))
        def post(hints, key):
            self.assertAnswered({**self.body(), key: hints})

        post()

    def test_any_body_is_refused(self):
        @settings(max_examples=300)
        @given(bodies)
        def post(body):
            self.assertAnswered(body)

        post()

    def test_a_preview_says_what_create_does(self):
        self.negotiated = case.NEGOTIATED_1_1

        @settings(max_examples=100)
        @given(likely, st.sampled_from(self.flavors))
        def post(overrides, flavor):
            body = self.body(overrides, flavorRef=flavor)
            preview = self.request("POST", "/image-properties/preview", body)
            self.assertEqual(200, preview.status_code, preview.text)
            self.assertEqual(
                self.assertAnswered(body), preview.json()["verdict"]["code"]
            )

        post()

    def test_any_body_of_a_preview_is_answered(self):
        self.negotiated = case.NEGOTIATED_1_1

        @settings(max_examples=200)
        @given(bodies | values.map(self.body))
        def post(body):
            preview = self.request(
                "POST", "/image-properties/preview", json.dumps(body).encode()
            )
            self.assertIn(preview.status_code, (200, 400), preview.text)

        post()


class TestAnyChange(case.BuiltCase):
    """Whatever is put, a server is changed or is not, and comes back."""

    negotiated = case.NEGOTIATED_1_1

    def setUp(self):
        super().setUp()
        self.flags(denied=[], group="image_props_override")
        self.set_image(hw_disk_bus="virtio", vmware_ostype="suse")

    def test_any_set_is_taken_or_refused_and_taken_back(self):
        server = self.boot()
        self._stop_server(server)
        path = f"/servers/{server['id']}/image-properties/overrides"
        before = dict(self.instance(server).system_metadata)
        statuses = []

        def put(overrides):
            body = json.dumps({"image_props_override": overrides}).encode()
            answer = self.request("PUT", path, body)
            statuses.append(answer.status_code)
            self.assertIn(
                answer.status_code, (200, 400, 403, 409), answer.text
            )
            return answer.status_code == 200

        # One that is surely taken, and one that needs a rebuild.
        @example({"hw_disk_bus": "sata"})
        @example({"hw_numa_nodes": "1"})
        @settings(max_examples=150)
        @given(likely | values)
        def change(overrides):
            if put(overrides):
                self.assertEqual(
                    overrides,
                    self.request("GET", f"/servers/{server['id']}").json()[
                        "server"
                    ]["image_props_override"],
                )
                self.assertTrue(put({}))
            kept = dict(self.instance(server).system_metadata)
            # one thing that a server never loses again
            if "image_hw_machine_type" not in before:
                kept.pop("image_hw_machine_type", None)
            self.assertEqual(before, kept)

        change()
        self.assertIn(200, statuses)
        self.assertIn(409, statuses)
