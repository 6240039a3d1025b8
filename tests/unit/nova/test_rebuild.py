"""Which overrides stay with a rebuild that does not say."""

import pytest

from imprint import conf
from imprint.nova import rebuild

RECORDED = {"hw_disk_bus": "scsi"}


def modes():
    (option,) = [
        option for option in conf.OVERRIDE_OPTS if option.name == "on_rebuild"
    ]
    return option.type.choices


@pytest.mark.parametrize(
    ("mode", "same", "other"),
    [
        ("keep", RECORDED, RECORDED),
        ("same-image", RECORDED, {}),
        ("drop", {}, {}),
    ],
)
def test_each_mode_has_its_meaning(mode, same, other):
    assert mode in modes()
    assert rebuild.choose(mode, RECORDED, lambda: True) == same
    assert rebuild.choose(mode, RECORDED, lambda: False) == other


def test_there_are_no_other_modes():
    assert len(list(modes())) == 3


@pytest.mark.parametrize("mode", ["keep", "drop"])
def test_the_image_is_looked_up_only_where_it_matters(mode):
    def look_up():
        raise AssertionError

    rebuild.choose(mode, RECORDED, look_up)
