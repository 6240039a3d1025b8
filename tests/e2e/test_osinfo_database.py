"""The cloud's libosinfo database says to us what it says to libosinfo.

It is Debian 13's, whatever Debian the tests run on; libosinfo answers in the
cloud's root, and our reader reads the same files from outside.
"""

import json

import pytest
from tests.unit.osinfo import oracle

from imprint.cloud.computes import FIRST
from imprint.osinfo import database

INSIDE = "/usr/share/osinfo"
# Debian 12's has 790
AT_LEAST = 800


def run(cloud, *command):
    """Run a command in the root where there is only Debian's database."""
    only = (
        f"{key}={word}" for key, word in oracle.environment([INSIDE]).items()
    )
    return cloud.run(FIRST, "env", *only, *command)


@pytest.fixture(scope="module")
def answers(admin):
    """Return what libosinfo says of each system, by its URI."""
    program = oracle.SCRIPT.read_text()
    said = run(admin, oracle.PYTHON, "-W", "ignore", "-c", program)
    return oracle.load(said)


@pytest.fixture(scope="module")
def read(directory):
    """Return what we read from the same files."""
    return database.Database([directory / "root" / INSIDE.removeprefix("/")])


def test_every_system_is_as_libosinfo_has_it(answers, read):
    assert len(answers) > AT_LEAST
    assert oracle.differences(read, answers) == []


def test_the_command_in_the_root_knows_the_same_systems(admin, answers):
    listed = json.loads(
        run(admin, "imprint-manage", "os", "list", "-f", "json")
    )
    assert sorted(row["ID"] for row in listed) == sorted(answers)
