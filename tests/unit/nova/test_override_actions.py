"""What an instance action says of changed overrides."""

import json

import pytest

from imprint.nova import override_actions

NAMES = [f"hw_name_{number:02}" for number in range(64)]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({"a": "1"}, {"a": "2"}, "a: '1' -> '2'"),
        ({"a": "1", "c": "x"}, {"b": "", "c": "x"}, "a: '1' -> none; b: "),
        ({}, {"a": "x" * 255}, "changed, values in the event: a"),
        ({}, dict.fromkeys(NAMES, "x"), "64 overrides changed, see the event"),
        ({}, {"a": "ä" * 125}, "changed, values in the event: a"),
    ],
)
def test_a_message_is_never_cut(before, after, message):
    built = override_actions.build_message(before, after)
    assert built.startswith(message)
    assert len(built.encode()) <= 255


def test_details_have_every_value_that_changed():
    after = dict.fromkeys(NAMES, "ä" * 127)
    before = dict.fromkeys(NAMES, "ö" * 127) | {"same": "x"}
    details = override_actions.build_details(before, {**after, "same": "x"})
    assert json.loads(details) == {
        name: {"before": "ö" * 127, "after": "ä" * 127} for name in NAMES
    }
    # the column of the default 64 overrides at their longest
    assert len(details.encode()) < 65536


def test_details_without_room_say_so():
    after = {f"{name}_{half}": "x" * 255 for name in NAMES for half in "abcde"}
    details = override_actions.build_details({}, after)
    assert json.loads(details) == {"changed": 320, "too_long_to_record": True}
