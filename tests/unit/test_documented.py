"""What a user or an operator can name has its place in the pages."""

import argparse
import pathlib
import re
import sys

import pytest
from oslo_config import cfg

from imprint import conf, exceptions
from imprint.cloud import shell
from imprint.nova import image_properties, policies, version_filter
from imprint.properties import overrides

TOP = pathlib.Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"
NOVA_PASTE = pathlib.Path(sys.prefix) / "etc/nova/api-paste.ini"


def page(name):
    return (DOCS / name).read_text()


def every_page():
    return {
        path.relative_to(TOP).as_posix(): path.read_text()
        for path in (TOP / "README.md", *DOCS.rglob("*.rst"))
        if "_build" not in path.parts
    }


def has_entry(text, term):
    """A definition of its own, not just a mention in passing."""
    terms = re.findall(r"^``[^\n]*``[^\n]*\n {4}\S", text, re.MULTILINE)
    return any(f"``{term}``" in line.partition("\n")[0] for line in terms)


def options():
    return [option for _, options in conf.list_opts() for option in options]


def commands():
    parser = shell.build_parser()
    (action,) = (
        action
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return action.choices


def flags(parser):
    return {
        flag
        for action in parser._actions
        for flag in action.option_strings
        if flag.startswith("--") and flag != "--help"
    }


def targets():
    return re.findall(
        r"^([a-z-]+):.*## ", (TOP / "Makefile").read_text(), re.MULTILINE
    )


@pytest.mark.parametrize("option", options(), ids=lambda option: option.name)
def test_every_option_has_an_entry_and_a_help_text(option):
    assert has_entry(page("admin/configuration.rst"), option.name)
    assert option.help.strip()


@pytest.mark.parametrize(
    "group", [group for group, _ in conf.list_opts()], ids=str
)
def test_every_group_of_options_is_named(group):
    assert f"``[{group.name}]``" in page("admin/configuration.rst")


def test_the_reference_of_options_is_made_of_all_of_them():
    assert ".. show-options::\n\n   imprint\n" in page(
        "admin/configuration.rst"
    )


@pytest.mark.parametrize(
    "rule", policies.list_rules(), ids=lambda rule: rule.name
)
def test_every_policy_rule_has_an_entry_and_a_description(rule):
    assert has_entry(page("admin/policy.rst"), rule.name)
    assert rule.description.strip()
    assert rule.operations


@pytest.mark.parametrize("version", version_filter.VERSIONS)
def test_every_version_of_the_api_has_an_entry(version):
    assert has_entry(page("user/versions.rst"), version)


def test_the_security_page_explains_the_default_denials_and_no_other():
    text = page("admin/security.rst")
    section = text.partition("denied by default, and why\n")[2]
    section = section.partition("\n====")[0]
    listed = re.findall(r"^    (``.*)$", section, re.MULTILINE)
    patterns = re.findall(r"``([^`]+)``", "".join(listed))
    assert sorted(patterns) == sorted(conf.DENIED)


@pytest.mark.parametrize("name", commands())
def test_every_command_of_the_cloud_has_an_entry(name):
    text = page("admin/cloud.rst")
    assert re.search(
        rf"^``imprint-cloud {name}\b[^\n]*``\n {{4}}\S", text, re.MULTILINE
    )


@pytest.mark.parametrize(
    "flag",
    sorted(
        set().union(
            flags(shell.build_parser()), *map(flags, commands().values())
        )
    ),
)
def test_every_option_of_the_cloud_is_mentioned(flag):
    assert flag in page("admin/cloud.rst")


@pytest.mark.parametrize("target", targets())
def test_every_make_target_is_mentioned(target):
    used = re.compile(rf"\bmake {target}(?![\w-])")
    assert any(used.search(text) for text in every_page().values())


def test_no_page_names_a_make_target_that_is_not_there():
    known = set(
        re.findall(
            r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE
        )
    )
    for name, text in every_page().items():
        used = re.findall(r"(?:``|`|\$ )make ([a-z-]+)", text)
        assert set(used) <= known, name


@pytest.mark.parametrize(
    "asked",
    [
        {"hw_disk_bus": "virtio-scsi"},
        {"hw_disk_buss": "ide"},
        {"architecture": "x86_64"},
        {"hw_cpu_cores": 2},
        {"os_command_line": "a" * 300},
        {"os_command_line": "a\nb"},
        {str(number): "" for number in range(65)},
        {"hw_numa_cpus.1": "0"},
        {"img_signature": "abc"},
    ],
    ids=lambda asked: ascii(next(iter(asked.items()))),
)
def test_the_troubleshooting_page_quotes_what_the_api_says(asked):
    assert refusal(asked) in page("user/troubleshooting.rst")


def test_the_troubleshooting_page_quotes_the_answer_when_switched_off():
    assert refusal({}, enabled=False) in page("user/troubleshooting.rst")


def refusal(asked, *, enabled=True):
    permissions = overrides.Permissions(
        enabled=enabled,
        allowed=("*",),
        denied=tuple(conf.DENIED),
        max_overrides=64,
    )
    with pytest.raises(exceptions.ImprintError) as refused:
        overrides.parse(
            asked,
            permissions=permissions,
            vocabulary=image_properties.vocabulary(),
        )
    return str(refused.value)


@pytest.mark.parametrize("page_name", sorted(every_page()))
def test_every_file_that_a_page_names_is_there(page_name):
    named = re.findall(
        r"(?<![\w/])((?:src|tests|docs|etc|tools|bench|releasenotes|shim)/[\w./-]+)",
        every_page()[page_name],
    )
    made_by_the_build = "docs/_build"
    for name in named:
        if not name.startswith(made_by_the_build):
            assert (TOP / name.rstrip(".")).exists(), name


def test_every_test_that_the_lifecycle_page_names_is_there():
    named = re.findall(r"``([\w/]+\.py)::(\w+)``", page("user/lifecycle.rst"))
    assert len(named) > 20
    for file, test in named:
        source = (TOP / "tests" / file).read_text()
        assert re.search(rf"^ *def {test}\(", source, re.MULTILINE), test


def paste_diff(mark):
    lines = page("admin/api-paste.diff").splitlines()[2:]  # below the names
    return [line[1:] for line in lines if line.startswith(mark)]


def test_the_paste_diff_fits_the_file_that_nova_ships():
    shipped = NOVA_PASTE.read_text().splitlines()
    assert len(paste_diff("-")) == 3
    assert set(paste_diff("-")) | set(paste_diff(" ")) <= set(shipped)


def test_the_paste_diff_leads_to_imprints_parts():
    added = paste_diff("+")
    assert "paste.app_factory = imprint.nova.router:Router.factory" in added
    assert (
        "paste.filter_factory = "
        "imprint.nova.version_filter:VersionFilter.factory"
    ) in added
    pipelines = [line for line in added if line.startswith("keystone =")]
    assert len(pipelines) == 2
    for pipeline in pipelines:
        assert " sizelimit imprint_version " in pipeline


def test_the_hardened_example_names_properties_that_exist():
    options = cfg.ConfigOpts()
    conf.register_opts(options)
    options([], default_config_files=[str(DOCS / "admin/hardened.conf")])
    allowed = options.image_props_override.allowed
    assert len(allowed) > 10
    assert not any("*" in name for name in allowed)


def test_no_page_has_a_gap_to_be_filled():
    for name, text in every_page().items():
        assert not re.search(r"^@@|\bTODO\b|\bFIXME\b", text, re.MULTILINE), (
            name
        )
