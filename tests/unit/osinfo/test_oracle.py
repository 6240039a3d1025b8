"""The installed database says to us what it says to libosinfo."""

import pathlib

from tests.unit.osinfo import oracle

from imprint.osinfo import database

INSTALLED = pathlib.Path("/usr/share/osinfo")

# Debian 12 has 790 systems, and no release of the database has had fewer
AT_LEAST = 700


def test_every_system_of_the_installed_database_is_as_libosinfo_has_it():
    answers = oracle.ask_libosinfo([INSTALLED])
    assert len(answers) > AT_LEAST
    assert oracle.differences(database.Database([INSTALLED]), answers) == []
