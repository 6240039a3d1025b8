"""Where the overrides of a body are, and what is left of it."""

import copy
import json
import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import json_values

from imprint import exceptions
from imprint.nova import scheduler_hints
from imprint.properties.overrides import FIELD, NATIVE

TROUBLESHOOTING = (
    pathlib.Path(__file__).resolve().parents[3]
    / "docs/user/troubleshooting.rst"
)
WANTED = {"hw_disk_bus": "ide", "os_command_line": "a=b=c"}
FLAT = {"imprint:hw_disk_bus": "ide", "imprint:os_command_line": "a=b=c"}
SPELLINGS = {
    "an object": {FIELD: WANTED},
    "JSON text": {FIELD: json.dumps(WANTED)},
    "flat": FLAT,
    "flat lists": {name: [value] for name, value in FLAT.items()},
}
OTHER = {"group": "6a6c1f5e-7b1d-4e0b-9a43-3d1c1c1f3f3e", "foo": ["a", "b"]}


def read(body):
    return scheduler_hints.take(body).read()


def refusal(body, error=exceptions.InvalidOverrideError):
    with pytest.raises(error) as refused:
        read(body)
    return str(refused.value)


@pytest.mark.parametrize("key", scheduler_hints.KEYS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_says_the_same_and_leaves_nothing(key, spelling):
    body = {"server": {"name": "a"}, key: {**SPELLINGS[spelling], **OTHER}}
    value, spelled = read(body)
    assert value == WANTED
    assert spelled is not NATIVE
    assert body == {"server": {"name": "a"}, key: OTHER}


def test_the_field_of_the_server_is_taken_too():
    body = {"server": {"name": "a", FIELD: WANTED}}
    assert read(body) == (WANTED, NATIVE)
    assert body == {"server": {"name": "a"}}


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "server",
        {},
        {"server": None},
        {"server": []},
        {"server": {}},
        {"server": {}, "os:scheduler_hints": None},
        {"server": {}, "os:scheduler_hints": FIELD},
        {"server": {}, "os:scheduler_hints": [{FIELD: WANTED}]},
        {"server": {}, "os:scheduler_hints": OTHER},
        {"server": {}, "scheduler_hints": {FIELD: WANTED}},
        {"server": {"os:scheduler_hints": {FIELD: WANTED}}},
    ],
)
def test_a_body_without_overrides_stays_as_it_is(body):
    before = copy.deepcopy(body)
    assert scheduler_hints.take(body) is None
    assert body == before


@pytest.mark.parametrize("key", scheduler_hints.KEYS)
@pytest.mark.parametrize(
    ("hint", "spelled"),
    [
        (SPELLINGS["an object"], "scheduler hint image_props_override"),
        (SPELLINGS["JSON text"], "scheduler hint image_props_override"),
        (SPELLINGS["flat"], "scheduler hints imprint:NAME"),
    ],
)
@pytest.mark.parametrize("native", [WANTED, {}, None])
def test_the_field_and_a_hint_exclude_each_other(key, hint, spelled, native):
    text = refusal({"server": {FIELD: native}, key: dict(hint)})
    assert f"as image_props_override and as {spelled}" in text


def test_two_spellings_in_one_set_of_hints_exclude_each_other():
    text = refusal({"os:scheduler_hints": {FIELD: {}, **FLAT}})
    assert "scheduler hint image_props_override and as" in text
    assert "scheduler hints imprint:NAME" in text


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("other", [{}, OTHER, None, SPELLINGS["flat"]])
@pytest.mark.parametrize("keys", [(0, 1), (1, 0)])
def test_overrides_need_one_key_of_hints_alone(spelling, other, keys):
    first, second = (scheduler_hints.KEYS[index] for index in keys)
    text = refusal(
        {first: dict(SPELLINGS[spelling]), second: other and dict(other)}
    )
    if not other or other is OTHER or spelling.startswith("flat"):
        assert first in text
        assert second in text
    else:
        assert "scheduler hints imprint:NAME" in text
        assert "scheduler hint image_props_override" in text


def test_the_field_of_the_server_does_not_mind_other_hints_under_two_keys():
    body = {"server": {FIELD: WANTED}, **dict.fromkeys(scheduler_hints.KEYS)}
    assert read(body) == (WANTED, NATIVE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hw_disk_bus=ide",
        "{'hw_disk_bus': 'ide'}",
        '{"hw_disk_bus": "ide"',
        '{"hw_disk_bus": "ide"} {}',
        '{"hw_disk_bus": "ide",}',
        '{"hw_disk_bus": NaN}',
        '{"hw_disk_bus": -Infinity}',
        '{"hw_disk_bus": "a\nb"}',
        '\ufeff{"hw_disk_bus": "ide"}',
        "[" * 100000,
        '{"a": ' * 100000,
        "9" * 5000,
    ],
)
def test_text_that_is_not_json_is_refused(text):
    refused = refusal({"os:scheduler_hints": {FIELD: text}})
    assert refused.startswith("scheduler hint image_props_override has the ")
    assert "an object or the JSON text of one is allowed" in refused
    assert len(refused) < 250


@pytest.mark.parametrize(
    "text",
    [
        '{"hw_disk_bus": "ide", "hw_disk_bus": "scsi"}',
        '{"hw_disk_bus": "ide", "hw_disk_\\u0062us": "ide"}',
        '{"hw_vif_model": {"hw_disk_bus": 1, "hw_disk_bus": 2}}',
    ],
)
def test_no_key_in_json_text_is_given_twice(text):
    refused = refusal({"os:scheduler_hints": {FIELD: text}})
    assert "image_props_override has 'hw_disk_bus' twice" in refused


@pytest.mark.parametrize("count", [0, 2, 3])
def test_a_flat_hint_has_one_value(count):
    hints = {"imprint:hw_disk_bus": ["ide"] * count}
    text = refusal({"os:scheduler_hints": hints})
    assert f"'imprint:hw_disk_bus' has {count} values, one is" in text


@pytest.mark.parametrize(
    "hint", [None, True, 1, {"a": "b"}, [["ide"]], [None]]
)
def test_other_types_are_for_the_check_of_values(hint):
    value, _ = read({"os:scheduler_hints": {"imprint:hw_disk_bus": hint}})
    assert not isinstance(value["hw_disk_bus"], str)


@pytest.mark.parametrize(
    ("spelling", "named"),
    [
        ("an object", "'image_props_override'"),
        ("JSON text", "'image_props_override'"),
        ("flat", "'imprint:hw_disk_bus'"),
    ],
)
def test_hints_are_refused_where_the_operator_does_not_take_them(
    spelling, named
):
    asked = scheduler_hints.take(
        {"server": {}, "os:scheduler_hints": dict(SPELLINGS[spelling])}
    )
    with pytest.raises(exceptions.ForbiddenOverrideError) as refused:
        asked.check_hints(accepted=False)
    assert f"scheduler hint {named}" in str(refused.value)
    asked.check_hints(accepted=True)
    scheduler_hints.take({"server": {FIELD: {}}}).check_hints(accepted=False)


WORDS = [FIELD, "imprint:", "imprint:a", "server", *scheduler_hints.KEYS]
texts, values = json_values.build(WORDS)


@settings(max_examples=500)
@given(
    st.dictionaries(
        st.sampled_from(["server", *scheduler_hints.KEYS]) | texts,
        st.dictionaries(st.sampled_from(WORDS) | texts, values, max_size=4)
        | values,
    )
)
def test_any_body_is_taken_or_refused_and_keeps_no_override(body):
    asked = scheduler_hints.take(body)
    for key in ("server", *scheduler_hints.KEYS):
        holder = body.get(key)
        assert not isinstance(holder, dict) or FIELD not in holder
    for key in scheduler_hints.KEYS:
        if isinstance(body.get(key), dict):
            assert not [k for k in body[key] if k.startswith("imprint:")]
    if asked is not None:
        try:
            asked.read()
        except exceptions.InvalidOverrideError as exc:
            assert str(exc).isprintable()  # noqa: PT017


@pytest.mark.parametrize(
    "body",
    [
        {"server": {FIELD: {}}, "os:scheduler_hints": {FIELD: {}}},
        {**dict.fromkeys(scheduler_hints.KEYS), "os:scheduler_hints": FLAT},
        {"os:scheduler_hints": {"imprint:hw_disk_bus": ["ide", "scsi"]}},
        {"os:scheduler_hints": {FIELD: "hw_disk_bus=ide"}},
    ],
)
def test_the_troubleshooting_page_quotes_these_refusals(body):
    assert refusal(copy.deepcopy(body)) in TROUBLESHOOTING.read_text()


def test_the_troubleshooting_page_quotes_the_answer_when_switched_off():
    asked = scheduler_hints.take({"os:scheduler_hints": dict(FLAT)})
    with pytest.raises(exceptions.ForbiddenOverrideError) as refused:
        asked.check_hints(accepted=False)
    assert str(refused.value) in TROUBLESHOOTING.read_text()
