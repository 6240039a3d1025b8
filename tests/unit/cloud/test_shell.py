import os
import subprocess
import sys

import pytest

from imprint.cloud import shell


@pytest.mark.parametrize(
    ("service", "line"),
    [
        (
            {"name": "neutron", "state": "running", "exit": None},
            "neutron          running",
        ),
        (
            {"name": "mariadb", "state": "dead", "exit": -9},
            "mariadb          dead      signal 9: mend it with `up`",
        ),
        (
            {"name": "glance", "state": "dead", "exit": 1},
            "glance           dead      exit code 1: mend it with `up`",
        ),
    ],
)
def test_a_service_is_described_in_one_line(service, line):
    assert shell.describe_service(service) == line


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "imprint.cloud.shell", *arguments],
        check=False,
        capture_output=True,
        text=True,
    )


def test_no_command_is_a_wrong_command_line():
    assert run().returncode == 2


def test_a_user_without_sudo_is_told_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shell.main(["--dir", str(tmp_path), "status"]) == 1
    assert capsys.readouterr().err == (
        "imprint-cloud: root is needed: install sudo or run it as root\n"
    )


def test_sudo_keeps_the_ways_to_networks_and_the_cache():
    environ = {
        "HOME": "/home/u",
        "https_proxy": "http://proxy.example",
        "PIP_INDEX_URL": "https://index.example",
        "OS_PASSWORD": "secret",
        "PYTHONPATH": "/home/u/evil",
    }
    assert shell.build_sudo(environ, ["up"]) == [
        *("sudo", "env", "HOME=/home/u"),
        "https_proxy=http://proxy.example",
        "PIP_INDEX_URL=https://index.example",
        *(sys.executable, "-m", "imprint.cloud.shell", "up"),
    ]


def test_asking_about_no_cloud_makes_none(tmp_path):
    top = tmp_path / "cloud"
    assert run("--dir", str(top), "status").returncode == shell.NOT_RUNNING
    assert run("--dir", str(top), "down").returncode == 0
    assert run("--dir", str(top), "env").returncode == 1
    assert not top.exists()


def test_a_log_that_is_not_there_is_named(tmp_path):
    done = run("--dir", str(tmp_path), "logs", "nova-api")
    assert done.returncode == 1
    assert "no log of 'nova-api': there are none" in done.stderr


def test_sudo_passes_on_who_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1001")
    asked = shell.build_parser().parse_args(["--dir", str(tmp_path), "up"])
    assert shell.build_cloud(asked).owner == (1000, 1001)
    assert os.environ["SUDO_UID"] == "1000"


def test_two_commands_do_not_change_one_cloud(tmp_path):
    asked = shell.build_parser().parse_args(["--dir", str(tmp_path), "down"])
    with shell.build_cloud(asked).locked():
        done = run("--dir", str(tmp_path), "-f", "json", "down")
    assert done.returncode == 1
    assert "another imprint-cloud works on" in done.stdout
