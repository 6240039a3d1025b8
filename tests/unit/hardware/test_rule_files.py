"""What a file of rules may say, and how it is told what is wrong."""

import pytest

from imprint import exceptions
from imprint.hardware import files
from imprint.hardware.rules import parse

GOOD = """
[[rule]]
name = "scsi"
match.family = "linux"
properties.hw_disk_bus = "scsi"
"""


def refusal(text):
    with pytest.raises(exceptions.InvalidRuleError) as caught:
        parse(text, "own.toml")
    return str(caught.value)


def test_a_file_may_be_empty():
    assert parse("", "own.toml") == ()


def test_a_rule_knows_its_file():
    (rule,) = parse(GOOD, "own.toml")
    assert rule.reason == "rule scsi of own.toml"


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('colour = "red"', "colour"),
        ('properties.hw_colour = "red"', "hw_colour"),
        ("properties.hw_disk_bus = 1", "properties.hw_disk_bus"),
        ("properties.hw_disk_bus = []", "properties.hw_disk_bus"),
        ('properties.hw_disk_bus = ""', "properties.hw_disk_bus"),
        ('properties.hw_disk_bus = ["ide", 1]', "properties.hw_disk_bus.2"),
        ('properties.hw_disk_bus = {has = "e1000"}', "'value'"),
        ('properties.hw_disk_bus = {value = "a", if = "b"}', "'if'"),
        ('properties = "ide"', "properties"),
        ('clock.offset = "moon"', "'moon'"),
        ('clock.drift = "1"', "'drift'"),
        ("timers.rtc.present = 1", "timers.rtc.present"),
        ('timers.rtc.tickpolicy = "slow"', "'slow'"),
        ('timers.rtc = "off"', "'off' is not 'default' or a table"),
        ('timers.sundial = {tickpolicy = "delay"}', "'sundial'"),
        ("hyperv.relaxed = true", "hyperv.relaxed: True"),
        ("hyperv.spinlocks = 12", "12 is not"),
        ('hyperv.spinlocks = "on"', "'on' is not 'off' or the number"),
        ('hyperv.warp = "on"', "'warp'"),
        ('recommend.hw_disk_bus = "ide"', "'hw_disk_bus'"),
        ('recommend.min_ram = "4 GiB"', "'4 GiB' is not of type 'integer'"),
        ('match = {}\nclock.offset = "utc"', "match: {} is empty"),
        ('match = []\nclock.offset = "utc"', "match: [] is empty"),
        ('match.image = {}\nclock.offset = "utc"', "match.image"),
        ('match.planet = "mars"\nclock.offset = "utc"', "'planet'"),
        ('match.family = []\nclock.offset = "utc"', "match.family"),
        ('match.version = "=>6"\nclock.offset = "utc"', "'=>6' is not comp"),
        ('match.version = ">=six"\nclock.offset = "utc"', "'>=six'"),
        ("match.version = 6\nclock.offset = 'utc'", "6 is not of type"),
        (
            'match.released_before = "2009-13-01"\nclock.offset = "utc"',
            "'2009-13-01' is not a 'date'",
        ),
        (
            'match.released_after = 12:30:00\nclock.offset = "utc"',
            "'12:30:00' is not a 'date'",
        ),
    ],
)
def test_an_error_names_file_rule_and_what_is_wrong(broken, told):
    match = "" if "match" in broken else 'match.family = "linux"\n'
    refused = refusal(f'{GOOD}\n[[rule]]\nname = "bad"\n{match}{broken}')
    assert refused.startswith("own.toml: rule 'bad': ")
    assert told in refused
    assert "\n" not in refused


def test_a_name_that_is_not_known_is_told_what_is():
    refused = refusal(GOOD + 'properties.hw_colour = "red"')
    assert "'hw_vif_model'" in refused


@pytest.mark.parametrize(
    "broken",
    [
        'match.family = "linux"\nclock.offset = "utc"',
        'name = ""\nmatch.family = "linux"\nclock.offset = "utc"',
        'name = 7\nmatch.family = "linux"\nclock.offset = "utc"',
    ],
)
def test_a_rule_without_a_name_is_told_by_its_number(broken):
    refused = refusal(f"{GOOD}\n[[rule]]\n{broken}")
    assert refused.startswith("own.toml: rule 2: ")


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ('name = "bad"\nclock.offset = "utc"', "'match' is a required"),
        (
            'name = "bad"\nmatch.family = "linux"',
            "has none of properties, clock",
        ),
    ],
)
def test_a_rule_matches_and_sets_something(rule, told):
    refused = refusal(f"[[rule]]\n{rule}")
    assert refused.startswith("own.toml: rule 'bad': ")
    assert told in refused


def test_a_name_is_given_once_in_a_file():
    assert refusal(GOOD + GOOD) == (
        "own.toml: rule 'scsi': another rule of this file has the same name"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[rule", "own.toml: "),
        ("rule = 1", "own.toml: rule: 1 is not of type 'array'"),
        ("rule = [1]", "own.toml: rule 1: 1 is not of type 'object'"),
        ("[[rules]]\nname = 'a'", "own.toml: 'rules'"),
        ('version = 1\n[[rule]]\nname = "a"', "own.toml: 'version'"),
        ("[[rule]]\nname = inf\nmatch = nan", "own.toml: rule 1: "),
    ],
)
def test_what_is_no_file_of_rules_is_refused(text, told):
    assert refusal(text).startswith(told)


def test_the_first_error_of_a_file_is_told():
    refused = refusal("[[rule]]\n" * 11)
    assert refused.startswith("own.toml: rule 1: ")


def test_values_can_be_listed_for_who_knows_which_are_legal(tmp_path):
    (tmp_path / "own.toml").write_text(
        GOOD
        + """
properties.hw_vif_model = ["default", {has = "x", value = "warp"}]
recommend.hw_tpm_model = "tpm-9"
recommend.min_ram = 5
"""
    )
    listed = files.load(tmp_path).list_values()
    reason = f"rule scsi of {tmp_path}/own.toml"
    assert [each for each in listed if each[2] == reason] == [
        ("hw_disk_bus", "scsi", reason),
        ("hw_vif_model", "warp", reason),
        ("hw_tpm_model", "tpm-9", reason),
    ]


def write(directory, name):
    (directory / name).write_text(
        GOOD.replace('name = "scsi"', f'name = "{name}"')
    )


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    for name in ("9-last.toml", "10-first.toml", "ignored.txt"):
        write(tmp_path, name)
    own = files.load().rules
    loaded = files.load(tmp_path).rules
    assert loaded[: len(own)] == own
    assert [rule.name for rule in loaded[len(own) :]] == [
        "10-first.toml",
        "9-last.toml",
    ]


def test_a_directory_need_not_exist(tmp_path):
    assert files.load(tmp_path / "none") == files.load()


def test_an_error_names_the_path_of_its_file(tmp_path):
    (tmp_path / "own.toml").write_text("[[rule")
    with pytest.raises(exceptions.InvalidRuleError) as caught:
        files.load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/own.toml: ")


@pytest.mark.parametrize("make", ["latin", "directory", "dangling"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, make):
    path = tmp_path / "own.toml"
    if make == "latin":
        path.write_bytes(b"# caf\xe9")
    elif make == "directory":
        path.mkdir()
    else:
        path.symlink_to("nowhere")
    with pytest.raises(exceptions.InvalidRuleError) as caught:
        files.load(tmp_path)
    assert str(path) in str(caught.value)


def test_a_file_in_place_of_the_directory_is_refused(tmp_path):
    path = tmp_path / "hardware.d"
    path.write_text(GOOD)
    with pytest.raises(exceptions.InvalidRuleError) as caught:
        files.load(path)
    assert str(path) in str(caught.value)
