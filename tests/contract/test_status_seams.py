"""What ``imprint-status`` leans on in Nova and in oslo.upgradecheck."""

import configparser
import inspect
import pathlib
import sys

import nova.conf
from keystoneauth1 import loading
from nova import config, version
from oslo_upgradecheck import upgradecheck

from imprint.nova import paste

SHIPPED = pathlib.Path(sys.prefix) / "etc/nova/api-paste.ini"


def test_nova_ships_the_pipelines_that_are_looked_at_and_no_other():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(SHIPPED.read_text())
    assert parser[paste.APP]
    application = paste.APP.partition(":")[2]
    pipelines = [
        section
        for section in parser.sections()
        if parser.get(section, "keystone", fallback="").endswith(application)
    ]
    assert sorted(pipelines) == sorted(paste.PIPELINES)


def test_the_filters_that_ours_stands_behind_are_in_both_pipelines():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(SHIPPED.read_text())
    for pipeline in paste.PIPELINES:
        assert set(paste._OUTER) <= set(parser[pipeline]["keystone"].split())


def test_nova_reads_the_options_that_are_looked_at():
    conf = nova.conf.CONF
    assert conf.wsgi.api_paste_config == "api-paste.ini"
    assert conf.service_user.send_service_user_token is False
    assert conf.compute_driver is None
    loading.load_auth_from_conf_options(conf, "service_user")


def test_the_commands_are_built_from_these_parts():
    assert not inspect.signature(config.set_lib_defaults).parameters
    assert version.version_string().partition(".")[0].isdecimal()
    parameters = inspect.signature(upgradecheck.main).parameters
    assert list(parameters)[:4] == [
        "conf",
        "project",
        "upgrade_command",
        "argv",
    ]
    assert [int(code) for code in upgradecheck.Code] == [0, 1, 2]
