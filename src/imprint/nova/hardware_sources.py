"""The rules and the database that a host decides hardware by.

For the driver, which needs both, and for ``imprint-status``, which tells
whether they are there.
"""

import os

from oslo_config import cfg

from imprint import exceptions
from imprint.hardware import files, rules
from imprint.nova import image_properties
from imprint.osinfo.database import Database
from imprint.osinfo.search_path import build_search_path

NO_DATABASE = (
    "there is no libosinfo database on this host (package osinfo-db, or "
    "[imprint] osinfo_dirs)"
)


def open_database(conf: cfg.ConfigOpts) -> Database:
    """Return the libosinfo database of this host; it need not exist."""
    return Database(build_search_path(os.environ, conf.imprint.osinfo_dirs))


def load_rules(conf: cfg.ConfigOpts) -> rules.Rules:
    """Load the package's rules and the operator's.

    :raises InvalidRuleError: naming the file, the rule and what is wrong, a
        value that this Nova does not take included
    """
    loaded = files.load(conf.imprint.hardware_dir)
    vocabulary = image_properties.vocabulary()
    for name, value, rule in loaded.list_values():
        if fault := vocabulary.find_fault(name, value):
            raise exceptions.InvalidRuleError(
                f"{rule}: {name} cannot be '{value}': {fault}"
            )
    return loaded
