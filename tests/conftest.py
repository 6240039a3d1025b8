"""What all tests share: threads in Nova, repeatable property-based tests.

``--hypothesis-profile=explore`` looks for new examples, ``--regenerate``
writes anew the files in tests/data that tests compare with.
"""

import os

# Nova chooses between threads and eventlet when its own tests are imported,
# which must come before anything that would import eventlet.
os.environ.setdefault("OS_NOVA_DISABLE_EVENTLET_PATCHING", "true")

import nova.tests.functional  # noqa: F401
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--regenerate",
        action="store_true",
        help="write the recorded files anew, for review",
    )
