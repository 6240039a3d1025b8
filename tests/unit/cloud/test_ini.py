import stat

import pytest
from oslo_config import cfg

from imprint.cloud import ini

PASTE = """\
[composite:osapi_compute]
use = call:nova.api.openstack.urlmap:urlmap_factory
/: oscomputeversions
/v2.1: oscomputeversion_v2

[composite:openstack_compute_api_v21]
use = call:nova.api.auth:pipeline_factory_v21
keystone = cors sizelimit authtoken osapi_compute_app_v21

[composite:legacy]
keystone = cors sizelimit legacy osapi_compute_app_v21

[composite:versions]
keystone = cors sizelimit oscomputeversionapp

[app:osapi_compute_app_v21]
paste.app_factory = nova.api.openstack.compute:APIRouterV21.factory
"""


def test_oslo_reads_what_was_rendered(tmp_path):
    file = tmp_path / "service.conf"
    ini.write(
        file,
        {
            "DEFAULT": {"debug": True, "host": "a$b"},
            "group": {"number": -1, "names": ("a", "b")},
        },
    )
    conf = cfg.ConfigOpts()
    conf.register_opts([cfg.BoolOpt("debug"), cfg.StrOpt("host")])
    conf.register_opts([cfg.IntOpt("number"), cfg.ListOpt("names")], "group")
    conf(["--config-file", str(file)])
    assert conf.debug is True
    assert conf.host == "a$b"
    assert conf.group.number == -1
    assert conf.group.names == ["a", "b"]


def test_a_second_line_cannot_become_an_option():
    with pytest.raises(ValueError, match="one line"):
        ini.render({"DEFAULT": {"password": "a\nadmin = true"}})


def test_files_are_their_owners_only_even_when_they_were_not(tmp_path):
    file = tmp_path / "sub" / "service.conf"
    file.parent.mkdir()
    file.touch(mode=0o644)
    ini.write(file, {"DEFAULT": {"a": 1}})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def edited(text=PASTE):
    return ini.edit_paste(text, router="our:router", version_filter="our:flt")


def test_the_filter_follows_sizelimit_in_the_versioned_pipelines():
    text = edited()
    assert (
        "keystone = cors sizelimit imprint_version authtoken"
        " osapi_compute_app_v21\n"
    ) in text
    assert (
        "keystone = cors sizelimit imprint_version legacy"
        " osapi_compute_app_v21\n"
    ) in text
    assert "keystone = cors sizelimit oscomputeversionapp\n" in text


def test_the_router_and_the_filter_are_ours():
    text = edited()
    assert "paste.app_factory = our:router\n" in text
    assert "[filter:imprint_version]\npaste.filter_factory = our:flt\n" in text


def test_the_rest_of_the_file_stays():
    text = edited()
    assert "/v2.1 = oscomputeversion_v2\n" in text
    assert "use = call:nova.api.openstack.urlmap:urlmap_factory\n" in text


def test_a_file_without_the_pipelines_is_refused():
    text = "[app:osapi_compute_app_v21]\npaste.app_factory = a:b\n"
    with pytest.raises(ValueError, match="no pipeline"):
        edited(text)
