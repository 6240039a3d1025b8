"""``imprint-status upgrade check`` as an operator runs it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from tests.functional import case

COMMAND = pathlib.Path(sys.executable).with_name("imprint-status")
SERVICE_USER = {
    "send_service_user_token": "true",
    "auth_type": "password",
    "auth_url": "http://127.0.0.1/identity",
    "username": "nova",
    "password": "secret-password",
    "project_name": "service",
    "user_domain_id": "default",
    "project_domain_id": "default",
}


@pytest.fixture
def site(tmp_path):
    """Write a nova.conf that passes, with changes; return its path."""

    def write(name="nova.conf", **changes):
        groups = {
            "DEFAULT": {"compute_driver": "imprint.LibvirtDriver"},
            "wsgi": {"api_paste_config": case.render_paste(tmp_path)},
            "service_user": SERVICE_USER,
            **changes,
        }
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "".join(
                f"[{group}]\n"
                + "".join(f"{k} = {v}\n" for k, v in options.items())
                for group, options in groups.items()
            )
        )
        return path

    return write


def check(*arguments, home="/nonexistent"):
    return subprocess.run(
        [COMMAND, *arguments, "upgrade", "check", "--json"],
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def results(done):
    assert "Traceback" not in done.stdout + done.stderr
    checks = json.loads(done.stdout)["checks"]
    return {entry["check"]: entry["result"] for entry in checks}


def test_a_host_that_is_ready_passes(site):
    done = check("--config-file", site())
    assert set(results(done).values()) == {0}
    assert done.returncode == 0


def test_a_warning_and_a_failure_have_the_exit_codes_of_nova_status(site):
    weak = {"compute_driver": "libvirt.LibvirtDriver"}
    done = check("--config-file", site(DEFAULT=weak))
    assert results(done)["Compute driver"] == 1
    assert done.returncode == 1

    done = check("--config-file", site(DEFAULT=weak, service_user={}))
    assert results(done)["Service user token"] == 2
    assert done.returncode == 2
    assert "secret-password" not in done.stdout + done.stderr


def test_files_are_found_where_nova_finds_them(site, tmp_path):
    site(".nova/nova.conf")
    assert check(home=tmp_path).returncode == 0
    directory = site("nova.conf.d/10.conf").parent
    assert check("--config-dir", directory).returncode == 0


def test_the_table_says_what_to_do(site):
    path = site(wsgi={"api_paste_config": "/nonexistent"})
    done = subprocess.run(
        [COMMAND, "--config-file", path, "upgrade", "check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "| Check: Paste pipelines" in done.stdout
    assert "cannot be read" in done.stdout
