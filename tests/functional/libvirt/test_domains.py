"""The whole domain of each kind of guest, as libvirt gets it.

``--regenerate`` writes the files in tests/data/domains anew; the diff is for
review.  The systems are those of the installed libosinfo database, and of
every release of it since 2022 the same.
"""

import pathlib
import re

import pytest
from lxml import etree
from tests.functional.libvirt import case, osinfo

RECORDS = pathlib.Path(__file__).resolve().parents[2] / "data" / "domains"

SYSTEMS = (
    *("winxp", "win2k3", "win7", "win10", "win11", "win2k19", "win2k22"),
    *("http://fedoraproject.org/fedora/21", "fedora36", "ubuntu22.04"),
    *("debian11", "rhel6.9", "rhel9.0", "opensuse15.4", "freebsd13.1"),
    *("openbsd7.2", "netbsd9.0", "haikur1beta3", "solaris11", "msdos6.22"),
    "unknown",
)
