import pytest

from imprint.cloud import ready


def service(binary, host="imprint", state="up", *, forced_down=False):
    return {
        "binary": binary,
        "host": host,
        "state": state,
        "forced_down": forced_down,
    }


HEARD = [
    service("nova-conductor"),
    service("nova-scheduler"),
    service("nova-compute"),
]


@pytest.mark.parametrize(
    ("more", "silent"),
    [
        ([], {"nova-compute on imprint-2"}),
        (
            [service("nova-compute", "imprint-2", "down")],
            {"nova-compute on imprint-2"},
        ),
        ([service("nova-compute", "imprint-2")], set()),
        # An administrator's wish, that `up` need not wait to end.
        (
            [service("nova-compute", "imprint-2", "down", forced_down=True)],
            set(),
        ),
    ],
)
def test_each_host_must_be_heard_of(more, silent):
    hosts = {"imprint", "imprint-2"}
    assert ready.find_silent([*HEARD, *more], hosts) == silent


def test_a_host_that_the_cloud_has_no_more_is_not_missed():
    left = service("nova-compute", "imprint-2", "down")
    assert ready.find_silent([*HEARD, left], {"imprint"}) == set()
