import os
import socket
import stat

from openstack.config import OpenStackConfig

from imprint.cloud import clouds_yaml, settings


def test_a_new_cloud_has_ports_and_passwords_of_its_own():
    first, second = settings.choose(), settings.choose()
    assert len(set(first.ports.values())) == len(settings.PORTS)
    assert len(set(first.passwords.values())) == len(settings.PASSWORDS)
    assert not set(first.passwords.values()) & set(second.passwords.values())


def test_free_ports_are_kept():
    chosen = settings.choose()
    assert settings.refresh_ports(chosen).ports == chosen.ports


def test_a_port_that_was_taken_is_chosen_anew():
    chosen = settings.choose()
    with socket.create_server(("127.0.0.1", chosen.ports["nova"])):
        ports = settings.refresh_ports(chosen).ports
    assert ports["nova"] != chosen.ports["nova"]
    assert ports | {"nova": 0} == chosen.ports | {"nova": 0}


def test_settings_survive_a_file_that_only_the_administrator_reads(tmp_path):
    file = tmp_path / "cloud.json"
    chosen = settings.choose()
    settings.save(file, chosen)
    assert settings.load(file) == chosen
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["cloud.json"]


def test_no_settings_are_not_an_error(tmp_path):
    assert settings.load(tmp_path / "cloud.json") is None


def test_passwords_do_not_show_when_settings_are_printed():
    chosen = settings.choose()
    assert chosen.passwords["admin"] not in repr(chosen)


def test_openstacksdk_reads_the_three_clouds(tmp_path):
    chosen = settings.choose()
    file = tmp_path / "clouds.yaml"
    clouds_yaml.write(file, chosen, owner=(os.getuid(), os.getgid()))
    config = OpenStackConfig(config_files=[str(file)], load_envvars=False)
    for name in ("admin", "alice", "bob"):
        auth = config.get_one(name).config["auth"]
        assert auth["password"] == chosen.passwords[name]
        assert auth["project_name"] == name
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
