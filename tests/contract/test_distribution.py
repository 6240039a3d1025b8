"""The wheel as it lies beside Nova, and what its parts do when imported."""

import importlib.metadata
import importlib.util
import json
import pathlib
import pkgutil
import subprocess
import sys
import types

import pytest

DISTRIBUTION = importlib.metadata.distribution("openstack-imprint")
FILES = {str(path) for path in DISTRIBUTION.files or ()}
SITE = pathlib.Path(str(DISTRIBUTION.locate_file(""))).resolve()

# What a host without Nova imports: the client, the cloud, the options.
HOSTLESS = (
    "imprint.client",
    "imprint.cloud",
    "imprint.conf",
    "imprint.exceptions",
    "imprint.properties",
)

# Runs in its own interpreter: what is imported stays imported.
WITNESS = """
import importlib, json, os, pkgutil, sys, threading
from oslo_config import cfg

environment = dict(os.environ)
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for part in pkgutil.walk_packages(
        getattr(module, "__path__", ()), name + "."
    ):
        importlib.import_module(part.name)
loaded = {name.partition(".")[0] for name in sys.modules}
json.dump(
    {
        "environment": dict(os.environ) != environment,
        "hosts": sorted(loaded & {"nova", "glance", "sqlalchemy"}),
        "options": sorted({"image_props_override"} & set(cfg.CONF)),
        "threads": threading.active_count(),
    },
    sys.stdout,
)
"""

# A fork per part, none of which sees what another has imported. What knows
# no objects is imported once, for speed.
ALONE = """
import importlib, os, sys
import nova.api.validation, nova.conf, nova.db.api.models
import nova.db.main.models, nova.exception
import nova.objects
assert not hasattr(nova.objects, "Instance")

for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        importlib.import_module(name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


def imported(*names):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITNESS, *names],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout)


def test_the_tests_see_the_installed_wheel():
    spec = importlib.util.find_spec("imprint")
    assert pathlib.Path(spec.origin).resolve().is_relative_to(SITE)


def test_the_driver_shim_lies_in_novas_own_package():
    nova = importlib.util.find_spec("nova.virt")
    assert (SITE / "nova/virt/imprint.py").samefile(
        pathlib.Path(nova.origin).with_name("imprint.py")
    )


def test_the_wheel_brings_nothing_else_into_nova():
    theirs = {name for name in FILES if name.startswith("nova/")}
    theirs = {name for name in theirs if "__pycache__" not in name}
    assert theirs == {"nova/virt/imprint.py"}


def test_the_wheel_brings_only_its_package_the_shim_and_metadata():
    tops = {name.partition("/")[0] for name in FILES}
    info = {name for name in tops if name.endswith(".dist-info")}
    # Scripts are listed relative to site-packages.
    assert tops - info - {".."} == {"imprint", "nova"}


@pytest.mark.parametrize(
    "entry_point",
    DISTRIBUTION.entry_points,
    ids=lambda entry_point: f"{entry_point.group}:{entry_point.name}",
)
def test_every_entry_point_loads(entry_point):
    loaded = entry_point.load()
    # a plugin of some clients is a module, see their loaders
    assert callable(loaded) or isinstance(loaded, types.ModuleType)


@pytest.mark.parametrize("name", HOSTLESS)
def test_a_part_for_other_hosts_imports_no_nova_and_does_no_work(name):
    assert imported(name) == {
        "environment": False,
        "hosts": [],
        "options": [],
        "threads": 1,
    }


def test_a_part_inside_nova_needs_no_other_to_be_imported_first():
    """Nova fills ``nova.objects`` only when its objects are registered."""
    parts = [
        f"imprint.nova.{part.name}"
        for part in pkgutil.iter_modules([str(SITE / "imprint/nova")])
    ]
    assert len(parts) > 1
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE, *parts],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == [], run.stderr
