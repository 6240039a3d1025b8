import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint.client import overrides

KEYS = st.text(min_size=1).filter(lambda key: "=" not in key)


@given(st.dictionaries(KEYS, st.text()))
def test_every_key_and_value_survives_whole(wanted):
    arguments = [f"{key}={value}" for key, value in wanted.items()]

    assert overrides.parse(arguments) == wanted


@given(st.lists(st.text()))
def test_arguments_are_read_or_refused_with_a_line(arguments):
    line = ""
    try:
        parsed = overrides.parse(arguments)
    except overrides.InvalidArgumentError as exc:
        line = str(exc)
    else:
        assert {f"{k}={v}" for k, v in parsed.items()} == set(arguments)

    assert len(line.splitlines()) <= 1


def test_nothing_asked_for_is_nothing():
    assert overrides.parse([]) == {}


def test_the_order_is_the_user_s():
    assert list(overrides.parse(["b=1", "a=2", "c=3"])) == ["b", "a", "c"]


def test_saying_the_same_twice_is_saying_it_once():
    assert overrides.parse(["a=1", "a=1"]) == {"a": "1"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["hw_disk_bus"], "'hw_disk_bus' has no '='"),
        ([""], "'' has no '='"),
        (["=scsi"], "'=scsi' has no key"),
        (["="], "'=' has no key"),
        (["a=1", "b=2", "a=3"], "'a' is given twice .* '1' and '3'"),
    ],
)
def test_an_argument_that_cannot_be_read_is_named(arguments, named):
    with pytest.raises(overrides.InvalidArgumentError, match=named):
        overrides.parse(arguments)
