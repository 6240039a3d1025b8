import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from imprint.cloud import root


def test_the_key_follows_what_is_installed(monkeypatch):
    before = root.build_key()
    assert root.build_key() == before
    monkeypatch.setattr(root, "APT_PACKAGES", (*root.APT_PACKAGES, "vim"))
    assert root.build_key() != before


def test_the_pins_name_one_version_each():
    pins = [
        line.partition(" ;")[0]
        for line in root.read_pins().splitlines()
        if line and not line.startswith("#")
    ]
    assert all(pin.count("==") == 1 for pin in pins)
    names = {pin.partition("==")[0] for pin in pins}
    assert {"nova", "glance", "keystone", "neutron"} <= names
    assert {"openstack-placement", "cheroot", "pymysql"} <= names


def test_no_root_has_no_key(tmp_path):
    assert root.Root(path=tmp_path / "root").read_key() is None


@pytest.mark.parametrize("code", [0, 3])
def test_a_script_of_the_root_runs_its_command(tmp_path, code):
    (tmp_path / "tool.py").write_text(f"def main():\n    return {code}\n")
    script = tmp_path / "tool"
    script.write_text(
        root.build_script(
            EntryPoint(name="tool", value="tool:main", group="console_scripts")
        )
    )
    done = subprocess.run([sys.executable, str(script)], check=False)
    assert done.returncode == code


def test_a_script_of_the_root_names_the_interpreter_of_the_root():
    command = EntryPoint(name="a", value="a:main", group="console_scripts")
    first = root.build_script(command).splitlines()[0]
    assert first == "#!/opt/openstack/bin/python"
