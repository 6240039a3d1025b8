"""The real ``openstack`` command against a real cloud without Imprint.

Run by ``make bench``, which has such a cloud beside the other one.
"""

import os
import pathlib
import re
import subprocess
import sys
import uuid

import openstack
import pytest
import yaml

CLOUD = pathlib.Path(os.environ["IMPRINT_STOCK_CLOUD_DIR"]).resolve()
COMMAND = pathlib.Path(sys.executable).with_name("openstack")


@pytest.fixture(params=["v2.1", "v2"])
def alice(request, tmp_path, monkeypatch):
    """Alice, on each path that a catalog may hold.

    The legacy one would drop a field that it does not know without a word.
    """
    clouds = yaml.safe_load((CLOUD / "clouds.yaml").read_text())
    path = tmp_path / "clouds.yaml"
    path.touch(mode=0o600)  # there are passwords in it
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(CLOUD / "clouds.yaml"))
    monkeypatch.setenv("OS_CLOUD", "alice")
    with openstack.connect() as connection:
        endpoint = connection.compute.get_endpoint()
        clouds["clouds"]["alice"]["compute_endpoint_override"] = re.sub(
            r"/v2\.1\b", f"/{request.param}", endpoint
        )
        path.write_text(yaml.safe_dump(clouds))
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
        yield connection


def test_the_missing_feature_is_named_and_nothing_created(alice):
    name = f"client-{uuid.uuid4().hex[:8]}"
    create = ["server", "create", "--image=tiny", "--flavor=tiny"]

    refused = subprocess.run(
        [COMMAND, *create, "--image-prop-override=hw_disk_bus=scsi", name],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert line == (
        "The compute service of this cloud does not offer image property "
        "overrides (Imprint 1.0): no server was created"
    )
    assert list(alice.compute.servers(name=name)) == []
