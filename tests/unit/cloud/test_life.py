"""What a cloud that runs can be asked to change; nothing is started."""

import os

import pytest

from imprint.cloud import settings
from imprint.cloud.errors import CloudError
from imprint.cloud.life import Cloud
from imprint.cloud.paths import Paths


@pytest.fixture
def cloud(tmp_path):
    return Cloud(
        paths=Paths(top=tmp_path),
        cache=tmp_path / "cache",
        owner=(os.getuid(), os.getgid()),
    )


def change(cloud, chosen, **asked):
    settings.save(cloud.paths.settings, chosen)
    cloud.change(**({"stock": None, "computes": None} | asked))
    return settings.load(cloud.paths.settings)


def test_a_cloud_that_runs_can_grow(cloud):
    chosen = settings.choose()
    grown = settings.replace(chosen, computes=2)
    assert change(cloud, chosen, computes=2) == grown


@pytest.mark.parametrize("asked", [None, 2])
def test_without_a_wish_or_with_the_same_all_stays(cloud, asked):
    chosen = settings.replace(settings.choose(), computes=2)
    assert change(cloud, chosen, computes=asked) == chosen


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"computes": 1}, "2 compute hosts.*`down`"),
        ({"stock": True}, "other way.*`down`"),
        # Refused whole
        ({"stock": True, "computes": 2}, "other way.*`down`"),
    ],
)
def test_what_needs_a_new_start_is_refused(cloud, asked, words):
    chosen = settings.replace(settings.choose(), computes=2)
    with pytest.raises(CloudError, match=words):
        change(cloud, chosen, **asked)
    assert settings.load(cloud.paths.settings) == chosen
