"""Each check of ``imprint-status``: all well, a warning, a failure."""

import importlib.metadata
import pathlib
import sys

import nova.conf.compute
import nova.conf.service_token
import nova.conf.wsgi
import pytest
from keystoneauth1 import loading
from nova import version as nova_version
from oslo_config import cfg
from oslo_policy import opts as policy_opts
from oslo_upgradecheck.upgradecheck import Code
from packaging import requirements
from tests.functional import case

from imprint import conf as imprint_conf
from imprint.nova import paste, status

SERVICE_USER = """
[service_user]
send_service_user_token = true
auth_type = password
auth_url = http://127.0.0.1/identity
username = nova
password = secret
project_name = service
user_domain_id = default
project_domain_id = default
"""
REST = "osprofiler authtoken keystonecontext"
OPEN = "[.*]\ncreate = @\nread = @\nupdate = @\ndelete = @\n"


@pytest.fixture
def site(tmp_path):
    """Return a function: nova.conf in, the checks' results out."""

    def run(text="", *, policy=None):
        path = tmp_path / "nova.conf"
        path.write_text(text)
        conf = cfg.ConfigOpts()
        nova.conf.compute.register_opts(conf)
        nova.conf.wsgi.register_opts(conf)
        # a group of its own: Nova's keeps what an auth plugin puts into it
        conf.register_opts(
            nova.conf.service_token.service_user_opts, group="service_user"
        )
        loading.register_auth_conf_options(conf, "service_user")
        imprint_conf.register_opts(conf)
        policy_file = tmp_path / "policy.yaml"
        policy_file.write_text(policy or "")
        policy_opts.set_defaults(conf, policy_file=str(policy_file))
        conf([], default_config_files=[str(path)], default_config_dirs=[])
        checks = status.Checks(conf)
        return {name: check(checks) for name, check in checks._upgrade_checks}

    return run


def test_every_check_has_a_test_here():
    text = pathlib.Path(__file__).read_text()
    for name, _ in status.Checks._upgrade_checks:
        assert f'"{name}"' in text


def paste_option(path):
    return f"[wsgi]\napi_paste_config = {path}\n"


def test_the_documented_pipelines_pass(site, tmp_path):
    text = paste_option(case.render_paste(tmp_path))
    assert site(text)["Paste pipelines"].code == Code.SUCCESS


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (paste.APP_FACTORY, "nova.api:X", [paste.APP, paste.APP_FACTORY]),
        (
            f"sizelimit imprint_version {REST} osapi",
            f"sizelimit {REST} osapi",
            [f"[{paste.PIPELINES[0]}]", paste.FILTER_FACTORY],
        ),
        (
            f"sizelimit imprint_version {REST} legacy",
            f"sizelimit {REST} legacy",
            [f"[{paste.PIPELINES[1]}]", paste.FILTER_FACTORY],
        ),
        ("sizelimit imprint_version", "imprint_version sizelimit", ["behind"]),
        (
            "sizelimit imprint_version",
            "sizelimit imprint_version imprint_version",
            ["needs one filter"],
        ),
        (paste.FILTER_FACTORY, "nova:Y", [paste.FILTER_FACTORY]),
        ("[composite:", "[pipeline:", list(paste.PIPELINES)),
        ("[app:osapi_compute_app_v21]", "[app:other]", [paste.APP]),
        ("[composite:metadata]", "[composite:", ["no paste file"]),
    ],
)
def test_a_pipeline_without_a_part_of_imprint_fails(
    site, tmp_path, old, new, words
):
    path = pathlib.Path(case.render_paste(tmp_path))
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    result = site(paste_option(path))["Paste pipelines"]
    assert result.code == Code.FAILURE
    for word in [*words, str(path), "restart"]:
        assert word in result.details


def test_a_filter_of_another_name_passes(site, tmp_path):
    path = pathlib.Path(case.render_paste(tmp_path))
    path.write_text(path.read_text().replace("imprint_version", "own"))
    assert site(paste_option(path))["Paste pipelines"].code == Code.SUCCESS


def test_novas_own_file_fails(site):
    path = pathlib.Path(sys.prefix) / "etc/nova/api-paste.ini"
    result = site(paste_option(path))["Paste pipelines"]
    assert result.code == Code.FAILURE
    assert result.details.count("needs") == 3


def test_a_paste_file_that_is_not_there_fails(site, tmp_path):
    result = site(paste_option(tmp_path / "none"))["Paste pipelines"]
    assert result.code == Code.FAILURE
    assert "cannot be read" in result.details


def test_a_host_of_nova_compute_alone_needs_no_paste_file(site):
    for driver, code in (
        ("", Code.FAILURE),
        ("[DEFAULT]\ncompute_driver = imprint.LibvirtDriver\n", Code.SUCCESS),
    ):
        result = site(driver)["Paste pipelines"]
        assert result.code == code
        assert "api-paste.ini" in result.details


def test_a_service_user_passes(site):
    assert site(SERVICE_USER)["Service user token"].code == Code.SUCCESS


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("send_service_user_token = true", "", "send_service_user_token"),
        ("auth_type = password", "", "auth_type"),
        ("auth_type = password", "auth_type = nonsense", "nonsense"),
        ("auth_url = http://127.0.0.1/identity", "", "auth_url"),
    ],
)
def test_a_service_user_with_a_gap_fails(site, old, new, word):
    result = site(SERVICE_USER.replace(old, new))["Service user token"]
    assert result.code == Code.FAILURE
    assert word in result.details
    assert "secret" not in result.details


@pytest.mark.parametrize(
    ("driver", "code", "word"),
    [
        ("", Code.SUCCESS, "each compute host"),
        ("imprint.LibvirtDriver", Code.SUCCESS, None),
        ("libvirt.LibvirtDriver", Code.WARNING, "a rebuild or a rescue"),
        ("vmwareapi.VMwareVCDriver", Code.WARNING, "not tested"),
        ("ironic.IronicDriver", Code.WARNING, "bare-metal"),
        ("imprint.Driver", Code.FAILURE, "imprint.LibvirtDriver"),
    ],
)
def test_the_driver_is_one_that_keeps_overrides(site, driver, code, word):
    text = driver and f"[DEFAULT]\ncompute_driver = {driver}\n"
    result = site(text)["Compute driver"]
    assert result.code == code
    assert (word or "") in (result.details or "")


def test_every_driver_that_nova_ships_is_known():
    ships = importlib.metadata.distribution("nova").files
    packages = {
        path.parts[2]
        for path in ships
        if path.parts[:2] == ("nova", "virt") and path.name == "driver.py"
    }
    packages.discard("driver.py")
    known = {name.partition(".")[0] for name in status.OTHER_DRIVERS}
    assert packages <= known
    assert "libvirt" in packages


def test_a_shim_that_cannot_be_imported_fails(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "nova.virt.imprint", None)
    result = site()["Compute driver"]
    assert result.code == Code.FAILURE
    assert "Install openstack-imprint into the" in result.details


def test_a_driver_of_another_nova_fails(site, monkeypatch):
    monkeypatch.setattr("nova.virt.imprint.LibvirtDriver", dict)
    result = site()["Compute driver"]
    assert result.code == Code.FAILURE
    assert "no driver of this Nova" in result.details


def test_both_versions_are_named(site):
    result = site()["Versions"]
    assert result.code == Code.SUCCESS
    assert importlib.metadata.version("nova") in result.details
    assert importlib.metadata.version("openstack-imprint") in result.details


@pytest.mark.parametrize("other", ["33.1.0", "35.0.0.dev12", "40.0.0"])
def test_another_release_of_nova_fails(site, monkeypatch, other):
    monkeypatch.setattr(nova_version, "version_string", lambda: other)
    result = site()["Versions"]
    assert result.code == Code.FAILURE
    assert f"Nova 34 and this is {other}" in result.details


def test_code_that_is_not_installed_fails(site, monkeypatch):
    monkeypatch.setattr(status, "DISTRIBUTION", "not-installed")
    result = site()["Versions"]
    assert result.code == Code.FAILURE
    assert "PYTHONPATH" in result.details


def test_the_releases_are_those_that_the_package_asks_for():
    (novas,) = (
        found
        for text in importlib.metadata.requires("openstack-imprint")
        if (found := requirements.Requirement(text)).name == "nova"
    )
    for release in range(20, 60):
        known = release in status.NOVA_RELEASES
        assert novas.specifier.contains(f"{release}.0.0") == known


def protection(path, rule_format="roles"):
    return (
        f"[image_props_override]\nproperty_protection_file = {path}\n"
        f"property_protection_rule_format = {rule_format}\n"
    )


def test_a_property_protection_file_passes_or_none_is_used(site, tmp_path):
    result = site()["Property protections"]
    assert result.code == Code.SUCCESS
    assert "If Glance has one" in result.details
    path = tmp_path / "protections.conf"
    path.write_text(OPEN)
    result = site(protection(path))["Property protections"]
    assert result.code == Code.SUCCESS


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (None, "No such file"),
        ("[hw]\ncreate = @\n", "[hw] has no read"),
        (OPEN.replace(".*", "("), "no regular expression"),
    ],
)
def test_a_property_protection_file_with_a_fault_fails(
    site, tmp_path, text, word
):
    path = tmp_path / "protections.conf"
    if text:
        path.write_text(text)
    result = site(protection(path))["Property protections"]
    assert result.code == Code.FAILURE
    assert word in result.details
    assert "Every override is refused" in result.details


def test_rules_that_the_policy_file_lacks_fail(site, tmp_path):
    path = tmp_path / "protections.conf"
    path.write_text(OPEN.replace("@", "tuning"))
    text = protection(path, "policies")
    result = site(text)["Property protections"]
    assert result.code == Code.FAILURE
    assert "policy file: tuning." in result.details
    result = site(text, policy='"tuning": "role:a"\n')["Property protections"]
    assert result.code == Code.SUCCESS


def lists(**options):
    return "[image_props_override]\n" + "".join(
        f"{name} = {', '.join(patterns)}\n"
        for name, patterns in options.items()
    )


def test_the_default_lists_pass_and_so_does_more(site):
    assert site()["Denied properties"].code == Code.SUCCESS
    more = lists(denied=[*imprint_conf.DENIED, "hw_numa_*"])
    assert site(more)["Denied properties"].code == Code.SUCCESS


@pytest.mark.parametrize("left_out", imprint_conf.DENIED)
def test_a_list_that_lacks_a_default_gets_a_warning(site, left_out):
    denied = [name for name in imprint_conf.DENIED if name != left_out]
    result = site(lists(denied=denied))["Denied properties"]
    assert result.code == Code.WARNING
    assert f"override {left_out}, which" in result.details


def test_what_the_other_list_leaves_out_is_no_matter(site):
    narrow = lists(denied=["nothing"], allowed=["hw_disk_bus"])
    assert site(narrow)["Denied properties"].code == Code.SUCCESS
    wide = lists(denied=["*"])
    assert site(wide)["Denied properties"].code == Code.SUCCESS


def test_every_check_has_an_entry_in_the_pages():
    page = pathlib.Path(__file__).resolve().parents[3] / "docs/admin"
    text = (page / "upgrade.rst").read_text()
    for name, _ in status.Checks._upgrade_checks:
        assert f"\n``{name}``\n    " in text


DRIVER = f"compute_driver = {status.DRIVER}\n"


def hardware(tmp_path, mode="default", *, rule=""):
    """Return options of a host with rules and databases of its own."""
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "10-own.toml").write_text(rule)
    return (
        f"[DEFAULT]\n{DRIVER}[libvirt]\nhardware_config = {mode}\n"
        f"[imprint]\nhardware_dir = {rules}\n"
        f"osinfo_dirs = {tmp_path / 'osinfo'}\n"
    )


@pytest.fixture
def no_database(monkeypatch, tmp_path):
    for kind in ("DATA", "SYSTEM", "LOCAL", "USER"):
        monkeypatch.setenv(f"OSINFO_{kind}_DIR", str(tmp_path / "none"))


def test_hardware_is_no_matter_where_none_is_chosen(
    site, tmp_path, no_database
):
    assert site()["Hardware"].code == Code.SUCCESS
    fixed = hardware(tmp_path, "fixed")
    assert site(fixed)["Hardware"].code == Code.SUCCESS


@pytest.mark.parametrize(
    ("mode", "consequence"),
    [
        ("default", "servers with os_name get Nova's defaults"),
        ("libosinfo", "nova-compute does not start"),
    ],
)
def test_a_missing_database_gets_a_warning(
    site, tmp_path, no_database, mode, consequence
):
    result = site(hardware(tmp_path, mode))["Hardware"]
    assert result.code == Code.WARNING
    assert consequence in result.details


def test_a_database_is_enough(site, tmp_path, no_database):
    (tmp_path / "osinfo/os").mkdir(parents=True)
    (tmp_path / "osinfo/os/example.org").mkdir()
    (tmp_path / "osinfo/os/example.org/own-1.xml").write_text(
        '<libosinfo><os id="http://example.org/own/1"/></libosinfo>'
    )
    result = site(hardware(tmp_path, "libosinfo"))["Hardware"]
    assert result.code == Code.SUCCESS


def test_a_rule_with_an_error_gets_a_warning(site, tmp_path):
    rule = (
        '[[rule]]\nname = "bad"\nmatch.family = "winnt"\n'
        'properties.hw_disk_bus = "satan"\n'
    )
    result = site(hardware(tmp_path, rule=rule))["Hardware"]
    assert result.code == Code.WARNING
    for word in ("10-own.toml", "bad", "satan", "does not start"):
        assert word in result.details
