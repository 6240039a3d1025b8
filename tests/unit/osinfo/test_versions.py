import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint.osinfo import versions


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ubuntu22.04", ("ubuntu", (22, 4))),
        ("rocky9", ("rocky", (9,))),
        ("win2k19", ("win2k", (19,))),
        ("win10", ("win", (10,))),
        ("sles12sp5", ("sles", (12, 5))),
        ("nixos-22.05", ("nixos-", (22, 5))),
        ("android-x86-8.1", ("android-x86-", (8, 1))),
        ("alt.p10", ("alt.p", (10,))),
        ("haikur1beta4", ("haikur1beta", (4,))),
        ("win2k12r2", ("win2k12r", (2,))),
        ("example.org/thing-1.10", ("example.org/thing-", (1, 10))),
        ("ubuntu", None),
        ("win2k99x", None),
        ("ubuntu22.", None),
        ("22.04", None),
        ("", None),
    ],
)
def test_a_name_is_a_stem_and_a_version(name, parts):
    assert versions.split(name) == parts


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("22.04", (22, 4)),
        ("15 SP4", (15, 4)),
        (" 12sp5 ", (12, 5)),
        ("9-unknown", None),
        ("rolling", None),
        ("", None),
    ],
)
def test_a_version_can_stand_alone(text, version):
    assert versions.parse(text) == version


@pytest.mark.parametrize(
    ("asked", "known", "answer"),
    [
        ("15.10", "15.3 15.4 15.9 16", "15.9"),  # ten is more than nine
        ("24.04", "20.04 22.04 22.10", "22.10"),
        ("9", "8.6 9.0 9.1 10", "9.1"),  # the whole of 9
        ("9.7", "8.6 9.0 9.1 10", "9.1"),
        ("13", "11 12 14", "12"),
        ("11.6", "11 12", "11"),
        ("3", "4 5", None),
        ("3", "", None),
    ],
)
def test_the_newest_version_that_is_not_above_is_nearest(asked, known, answer):
    found = versions.nearest(
        "some", versions.parse(asked), map(versions.parse, known.split())
    )
    assert found == (answer and versions.parse(answer))


@pytest.mark.parametrize(
    ("stem", "asked", "known", "answer"),
    [
        ("win", (12,), [(10,), (11,), (95,), (98,)], (11,)),
        ("win", (2019,), [(10,), (11,), (95,), (98,)], None),
        ("microsoft.com/win-", (97,), [(11,), (95,)], None),
        ("opensuse", (15, 5), [(15, 4), (42, 3)], (15, 4)),
        ("opensuse", (42, 4), [(15, 4), (42, 3)], (42, 3)),
        ("opensuse", (99,), [(15, 4), (42, 3)], None),
        ("other", (99,), [(15, 4), (42, 3)], (42, 3)),
    ],
)
def test_numbers_that_are_counted_apart_are_compared_apart(
    stem, asked, known, answer
):
    assert versions.nearest(stem, asked, known) == answer


VERSION = st.lists(st.integers(0, 30), min_size=1, max_size=3).map(tuple)


@given(VERSION, st.lists(VERSION, max_size=8))
def test_nothing_known_lies_between_a_version_and_the_nearest(asked, known):
    found = versions.nearest("some", asked, known)
    series = [each for each in known if each[: len(asked)] == asked]
    older = [each for each in known if each < asked]
    if found is None:
        assert not series
        assert not older
    elif series:
        assert found in series
        assert all(each <= found for each in series)
    else:
        assert found < asked
        assert not [each for each in known if found < each < asked]


@given(VERSION, st.lists(VERSION, min_size=1, max_size=8))
def test_a_known_version_is_never_answered_by_an_older_one(asked, known):
    found = versions.nearest("some", asked, [*known, asked])
    assert found >= asked
