"""What a user or an operator can name has its place in the pages."""

import argparse
import os
import pathlib
import re
import sys

import pytest
from oslo_config import cfg

from imprint import conf, exceptions
from imprint.cloud import shell
from imprint.cmd import manage
from imprint.hardware import facts, files, rules, schema, vmware
from imprint.nova import image_properties, policies, version_filter
from imprint.osinfo import database
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


def manage_parser(name):
    return manage.COMMANDS[name](manage.ManageApp(), None).get_parser(name)


def manage_flags(name):
    """Return those of a command, without the many of cliff's formatters."""
    base = manage.COMMANDS[name].__mro__[1]
    of_cliff = type("Plain", (base,), {"take_action": None})
    return flags(manage_parser(name)) - flags(
        of_cliff(manage.ManageApp(), None).get_parser(name)
    )


def installed(*others):
    """Return the package's database, whichever version it has."""
    package = os.environ.get("OSINFO_SYSTEM_DIR", "/usr/share/osinfo")
    return database.Database([pathlib.Path(package), *others])


def host(machine):
    return facts.HostFacts(
        virt_type="kvm", arch="x86_64", machine_type=machine
    )


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


@pytest.mark.parametrize("name", sorted(manage.COMMANDS))
def test_every_command_of_manage_has_an_entry(name):
    assert re.search(
        rf"^``imprint-manage {name}\b[^\n]*``\n {{4}}\S",
        page("admin/hardware.rst"),
        re.MULTILINE,
    )


@pytest.mark.parametrize(
    "flag",
    sorted(
        {"--config-file", "--config-dir"}.union(
            *map(manage_flags, manage.COMMANDS)
        )
    ),
)
def test_every_option_of_manage_is_mentioned(flag):
    text = page("admin/hardware.rst")
    assert re.search(rf"{flag}(?![\w-])", text)


def test_every_option_of_manage_is_found():
    found = set().union(*map(manage_flags, manage.COMMANDS))
    assert found == {
        *("--arch", "--machine", "--property", "--search", "--virt-type")
    }


def test_no_page_names_a_command_of_manage_that_is_not_there():
    for name, text in every_page().items():
        for used in re.findall(r"imprint-manage (os [a-z-]+)", text):
            assert used in manage.COMMANDS, name


@pytest.mark.parametrize("key", sorted(schema._RULE["properties"]))
def test_every_key_of_a_rule_has_an_entry(key):
    assert has_entry(page("admin/hardware.rst"), key)


@pytest.mark.parametrize("key", sorted(schema._CONDITION["properties"]))
def test_every_condition_of_a_rule_has_an_entry(key):
    assert has_entry(page("admin/hardware.rst"), key)


def test_every_rule_of_imprint_is_told_and_no_other():
    text = page("admin/hardware.rst")
    section = text.partition("Imprint's own rules\n")[2]
    section = section.partition("\n====")[0]
    listed = re.findall(r"^(``.*)$", section, re.MULTILINE)
    told = re.findall(r"``([^`]+)``", "".join(listed))
    assert sorted(told) == sorted(rule.name for rule in files.load().rules)


@pytest.mark.parametrize("name", schema.PROPERTIES)
def test_every_property_that_is_chosen_is_told_to_users(name):
    assert f"``{name}``" in page("user/hardware.rst")


def test_the_table_of_systems_says_what_is_decided():
    section = page("user/hardware.rst").partition(".. list-table::")[2]
    section = section.partition("\n*pc instead*")[0]
    rows = re.findall(r"\* - (.*)((?:\n {5}- .*){5})", section)
    assert len(rows) > 10
    for name, rest in rows[1:]:
        told = re.findall(r"- (.*)", rest)
        assert told == list(decided(name.strip("`"))), name


def decided(name):
    system = installed().find(name)
    for machine in ("pc", "q35"):
        choices = rules.decide(system, host(machine), {}, files.load())
        chosen = rules.select(choices, {})
        if "hw_machine_type" in chosen:
            yield f"{chosen['hw_machine_type'].value} instead"
        else:
            yield chosen["hw_disk_bus"].value
    yield chosen["hw_vif_model"].value
    yield choices.clock_offset.value
    yield "yes" if choices.hyperv else "no"


def test_the_explanation_on_the_page_is_one_of_today():
    """But for the reasons, which name entries of the database."""
    text = page("admin/hardware.rst")
    table = text.partition("os explain win2k22 --machine q35\n")[2]
    rows = re.findall(r"^ {3}\| (.*) \|$", table, re.MULTILINE)
    told = [tuple(map(str.strip, row.split(" | ")))[1:3] for row in rows]
    system = installed().find("win2k22")
    choices = rules.decide(system, host("q35"), {}, files.load())
    expected = [
        (name, choice.value)
        for chosen in (
            rules.select(choices, {}),
            choices.hyperv,
            choices.recommendations,
        )
        for name, choice in chosen.items()
    ]
    assert set(expected) <= set(told)
    assert len(told) == len(expected) + len(choices.timers) + len(
        choices.notes
    ) + len(["the head", "system", "three of the host", "offset"] + 2 * [""])


def test_the_guest_id_on_the_page_is_the_one_that_is_printed():
    told = re.search(
        r"os vmware-guest-id win2k22\n {3}(\w+)\n",
        page("admin/hardware.rst"),
    )
    system = installed().find("win2k22")
    assert vmware.choose_guest_id(system, vmware.load()).value == told[1]


def test_the_example_of_rules_and_of_a_system_works():
    systems = installed(DOCS / "admin/osinfo")
    example = rules.parse(page("admin/50-example.toml"), "50-example.toml")
    all_rules = files.load().extend(example)
    reasons = set()
    for name, properties, bus in (
        ("appliance2", {}, "scsi"),
        ("win10", {}, "virtio"),
        ("win10", {"hw_virtio_drivers": "no"}, "sata"),
        ("winxp", {}, "ide"),
        ("debian11", {}, "virtio"),
    ):
        choices = rules.decide(
            systems.find(name), host("q35"), properties, all_rules
        )
        chosen = rules.select(choices, properties)
        assert chosen["hw_disk_bus"].value == bus, name
        reasons |= {
            choice.reason for choice in (*chosen.values(), *choices.timers)
        }
    # each rule of the example is the reason for something
    assert {rule.reason for rule in example} <= reasons


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
