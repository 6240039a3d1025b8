"""What a user may ask for."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import json_values
from tests.unit.properties.vocabulary import BUSES, VOCABULARY

from imprint import exceptions
from imprint.properties import overrides

PERMISSIONS = overrides.Permissions(
    enabled=True,
    allowed=("*",),
    denied=("img_signature*", "trait:*"),
    max_overrides=4,
)


def parse(asked, **changes):
    return overrides.parse(
        asked,
        permissions=dataclasses.replace(PERMISSIONS, **changes),
        vocabulary=VOCABULARY,
    )


def refusal(asked, error=exceptions.InvalidOverrideError, **changes):
    with pytest.raises(error) as refused:
        parse(asked, **changes)
    return str(refused.value)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"os_command_line": "console=ttyS0 inst.ks=http://h/a?x=1"},
        {"os_command_line": ""},
        {"os_command_line": "a=b=c"},
        {"os_command_line": "x" * 255},
        {"os_command_line": "é" * 127},
        {"hw_numa_cpus.0": "0", "hw_numa_cpus.1": "1", "hw_numa_mem.0": "1"},
    ],
)
def test_what_is_legal_comes_back_as_it_was_asked(asked):
    assert parse(asked) == asked


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("hw_disk_bus=ide", "a string"),
        ([["hw_disk_bus", "ide"]], "a list"),
    ],
)
def test_only_an_object_is_taken(asked, kind):
    assert f"not {kind}" in refusal(asked)
    assert "image_props_override" in refusal(asked)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (False, "a boolean"),
        (1, "a number"),
        ({}, "an object"),
        (["ide"], "a list"),
    ],
)
def test_only_strings_are_values(value, kind):
    said = refusal({"hw_disk_bus": value})
    assert said == f"hw_disk_bus must be a string, not {kind}"


def test_a_deep_value_is_described_without_being_walked():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert "not a list" in refusal({"hw_disk_bus": deep})
    assert "not a list" in refusal(deep)


def test_names_that_are_no_strings_are_refused():
    assert "strings, not a number" in refusal({1: "ide"})


def test_a_wrong_value_is_refused_with_the_legal_ones():
    said = refusal({"hw_disk_bus": "floppy"})
    for word in ("hw_disk_bus", "'floppy'", *BUSES):
        assert word in said


def test_a_value_that_would_be_cut_is_refused_with_the_limit():
    assert "at most 255" in refusal({"os_command_line": "x" * 256})
    said = refusal({"os_command_line": "é" * 128})
    assert "256 bytes" in said
    assert "at most 255" in said


@pytest.mark.parametrize(
    "character", ["\0", "\n", "\x1b", "\x7f", "\x85", "\u202e", "\ud800", "😀"]
)
def test_characters_that_a_domain_or_table_cannot_hold_are_refused(character):
    said = refusal({"os_command_line": f"a{character}b"})
    assert "os_command_line" in said
    assert "character" in said
    said.encode()


def test_too_many_are_refused_with_the_limit():
    asked = {f"hw_numa_mem.{node}": "1" for node in range(5)}
    assert "5 properties, at most 4" in refusal(asked)
    assert parse(asked, max_overrides=5) == asked
    assert "at most 0" in refusal({"hw_disk_bus": "ide"}, max_overrides=0)


def test_a_trait_can_only_be_required():
    name = "trait:CUSTOM_A"
    assert parse({name: "required"}, denied=()) == {name: "required"}
    for value in ("forbidden", "", "Required"):
        assert "only 'required'" in refusal({name: value}, denied=())


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ({"hw_numa_cpus.1": "1"}, "hw_numa_cpus.0"),
        ({"hw_numa_mem.0": "1", "hw_numa_mem.2": "1"}, "hw_numa_mem.1"),
    ],
)
def test_numa_nodes_have_no_gaps(asked, missing):
    assert f"needs {missing}" in refusal(asked)


class TestPermissions:
    forbidden = exceptions.ForbiddenOverrideError

    def test_a_denied_property_is_refused_by_name(self):
        said = refusal({"img_signature": "x"}, self.forbidden)
        assert said == "The image property img_signature may not be overridden"

    def test_denied_wins_over_allowed(self):
        said = refusal(
            {"hw_disk_bus": "ide"},
            self.forbidden,
            allowed=("hw_disk_bus",),
            denied=("hw_*",),
        )
        assert "hw_disk_bus" in said

    def test_what_is_not_allowed_is_refused(self):
        for allowed in ((), ("hw_*",)):
            said = refusal(
                {"os_distro": "x"}, self.forbidden, allowed=allowed, denied=()
            )
            assert "os_distro" in said

    def test_patterns_are_matched_with_case(self):
        assert parse({"hw_disk_bus": "ide"}, denied=("HW_*",))

    def test_one_node_of_a_list_can_be_denied(self):
        asked = {"hw_numa_mem.0": "1", "hw_numa_mem.1": "1"}
        said = refusal(asked, self.forbidden, denied=("hw_numa_mem.1",))
        assert "hw_numa_mem.1" in said

    def test_a_denied_property_is_refused_whatever_the_values_are(self):
        for value in ("x", "x" * 5000, None, "\0", [1]):
            asked = {"hw_disk_bus": "floppy", "img_signature": value}
            assert "img_signature" in refusal(asked, self.forbidden)

    def test_a_wrong_name_is_refused_before_a_denied_property(self):
        assert "nonsense" in refusal({"img_signature": "x", "nonsense": "x"})

    def test_a_denied_list_is_forbidden_and_not_explained(self):
        assert "hw_numa_mem may not" in refusal(
            {"hw_numa_mem": "1"}, self.forbidden, denied=("hw_numa_mem",)
        )
        assert "hw_numa_mem.0" in refusal({"hw_numa_mem": "1"})

    def test_nothing_is_taken_when_switched_off(self):
        for asked in ({}, {"hw_disk_bus": "ide"}, None):
            assert "switched off" in refusal(
                asked, self.forbidden, enabled=False
            )


texts, values = json_values.build(
    [
        *sorted(VOCABULARY.fields),
        *sorted(VOCABULARY.legacy),
        *BUSES,
        "hw_numa_cpus.0",
        "hw_numa_mem.1",
        "trait:CUSTOM_A",
    ]
)


@settings(max_examples=3000)
@given(st.dictionaries(texts, texts | values, max_size=4) | values)
def test_any_json_value_is_taken_or_refused(asked):
    try:
        taken = parse(asked)
    except exceptions.ImprintError as refused:
        said = str(refused)
    else:
        said = ""
        assert taken == asked
        for name, value in taken.items():
            assert not name.startswith(("img_signature", "trait:"))
            assert len(value.encode()) <= 255
            assert value.isprintable()
    # one short line that any log and terminal can show
    assert len(said.splitlines()) <= 1
    assert len(said.encode()) < 1000
