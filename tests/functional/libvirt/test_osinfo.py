"""The small database says nothing that the installed one does not."""

import pytest
from tests.functional.libvirt import osinfo

from imprint.osinfo import search_path
from imprint.osinfo.database import Database


@pytest.mark.parametrize("short_id", osinfo.SYSTEMS)
def test_a_system_of_the_tests_is_like_the_real_one(short_id, tmp_path):
    osinfo.write_database(tmp_path)
    small, real = (
        Database([directory]).find(short_id)
        for directory in (tmp_path, search_path.SYSTEM)
    )
    for name in ("id", "family", "distro", "version"):
        assert getattr(small, name) == getattr(real, name)
    assert small.devices.keys() <= real.devices.keys()
