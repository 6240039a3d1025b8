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
