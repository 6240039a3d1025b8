"""How the pages are built.

Alabaster, not openstackdocstheme: that theme is the frame of
docs.openstack.org. It loads a tag manager and fonts of that site into every
page and needs a git checkout, while these pages must build and read well
without a network.
"""

import sys
import warnings
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "ext"))

# Nova imports eventlet, which then speaks of its own end of life.
warnings.filterwarnings("ignore", message="\\nEventlet is deprecated")

project = "Imprint"
author = "The Imprint developers"
copyright = author  # noqa: A001 - Sphinx's name for it
release = version = installed("openstack-imprint")

extensions = [
    "oslo_config.sphinxconfiggen",  # writes the sample nova.conf section
    "oslo_config.sphinxext",  # the configuration reference
    "oslo_policy.sphinxpolicygen",  # writes the sample policy file
    "oslo_policy.sphinxext",  # the policy reference
    "release_notes",  # reno, where the history allows it
    "property_table",  # what the API takes, from the code that checks it
]

# Both are looked for from the folder of this file.
config_generator_config_file = [
    ("../etc/imprint-config-generator.conf", "_generated/imprint"),
]
policy_generator_config_file = [
    ("../etc/imprint-policy-generator.conf", "_generated/imprint"),
]

exclude_patterns = ["_build", "_generated"]
nitpicky = True
smartquotes = False  # commands are copied from these pages

html_theme = "alabaster"
html_theme_options = {
    "description": "Image properties per server, for OpenStack Nova",
    "fixed_sidebar": True,
    "page_width": "1080px",
    "sidebar_width": "230px",
}
html_copy_source = False
html_show_sphinx = False
