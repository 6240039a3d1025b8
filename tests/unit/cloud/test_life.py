"""What a cloud that runs can be asked to change; nothing is started."""

import json
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
    nothing = {"stock": None, "computes": None, "novas": None}
    cloud.change(**(nothing | asked))
    return settings.load(cloud.paths.settings)


@pytest.mark.parametrize("what", ["computes", "novas"])
def test_a_cloud_that_runs_can_grow(cloud, what):
    chosen = settings.choose()
    grown = settings.replace(chosen, **{what: 2})
    assert change(cloud, chosen, **{what: 2}) == grown


def test_with_a_second_nova_come_its_clouds(cloud):
    change(cloud, settings.choose(), novas=2)
    clouds = json.loads(cloud.paths.clouds_yaml.read_text())["clouds"]
    assert clouds["alice-2"]["region_name"] == "RegionTwo"
    assert clouds["alice-2"]["auth"] == clouds["alice"]["auth"]


@pytest.mark.parametrize("asked", [None, 2])
@pytest.mark.parametrize("what", ["computes", "novas"])
def test_without_a_wish_or_with_the_same_all_stays(cloud, what, asked):
    chosen = settings.replace(settings.choose(), **{what: 2})
    assert change(cloud, chosen, **{what: asked}) == chosen


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"computes": 1}, "2 compute hosts.*`down`"),
        ({"novas": 1}, "2 Novas.*`down`"),
        ({"stock": True}, "other way.*`down`"),
        # Refused whole
        ({"stock": True, "computes": 2}, "other way.*`down`"),
    ],
)
def test_what_needs_a_new_start_is_refused(cloud, asked, words):
    chosen = settings.replace(settings.choose(), computes=2, novas=2)
    with pytest.raises(CloudError, match=words):
        change(cloud, chosen, **asked)
    assert settings.load(cloud.paths.settings) == chosen
