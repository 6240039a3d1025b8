"""Glance's property protections mean for overrides what they mean there.

The oracle is Glance's own class, and Glance's own files; see also the table
of what Glance's guide says.
"""

import configparser
import itertools
import pathlib
import re
import types

import glance.common.property_utils as glance_rules
import pytest
from glance.common import exception as glance_exception
from hypothesis import given, settings
from hypothesis import strategies as st
from oslo_config import cfg
from oslo_policy import policy
from tests.unit.properties.vocabulary import VOCABULARY

from imprint.properties import merge, protections
from imprint.properties.protections import Operation, RuleFormat

SHIPPED = pathlib.Path(glance_rules.__file__).parents[1] / "tests/etc"
FILES = {
    RuleFormat.ROLES: (SHIPPED / "property-protections.conf").read_text(),
    RuleFormat.POLICIES: (
        SHIPPED / "property-protections-policies.conf"
    ).read_text(),
}
#: the rules of Glance's own file of policies
POLICIES = {
    "context_is_admin": "role:admin",
    "default": "",
    "glance_creator": "role:admin or role:spl_role",
}
ROLES = ["admin", "member", "spl_role", "reader"]
NAMES = [
    "x_owner_a",
    "spl_create_prop",
    "spl_read_prop",
    "spl_read_only_prop",
    "spl_update_prop",
    "spl_update_only_prop",
    "spl_delete_prop",
    "spl_delete_empty_prop",
    "spl_creator_policy",
    "spl_default_policy",
    "x_all_permitted_a",
    "not_x_all_permitted",
    "x_none_permitted",
    "x_none_read",
    "x_none_update",
    "x_none_delete",
    "x_case_insensitive",
    "x_foo_matcher",
    "x_foo_bar",
    "x_fo",
    "hw_disk_bus",
    "hw_numa_cpus.0",
    "trait:CUSTOM_A",
]


class _Enforcer:
    """What Glance's rules ask of Glance's enforcer, on the same policies."""

    def __init__(self):
        self.rules = policy.Rules.from_dict(POLICIES)

    def add_rules(self, rules):
        self.rules.update(rules)

    def enforce(self, context, action, target, registered):
        creds = {"roles": context.roles}
        check = self.rules[action]
        if not check(target, creds, types.SimpleNamespace(rules=self.rules)):
            raise glance_exception.Forbidden


@pytest.fixture
def glance(tmp_path, monkeypatch):
    """Return Glance's answer to the file with that text; None: no start."""

    conf = cfg.ConfigOpts()
    conf.register_opts(glance_rules.property_opts)
    conf([], default_config_files=[], default_config_dirs=[])
    path = tmp_path / "protections.conf"
    conf.set_override("property_protection_file", str(path))
    monkeypatch.setattr(glance_rules, "CONF", conf)

    def load(text, rule_format):
        path.write_text(text)
        # Glance starts with a new one
        monkeypatch.setattr(
            glance_rules, "CONFIG", configparser.ConfigParser()
        )
        conf.set_override("property_protection_rule_format", rule_format.value)
        try:
            return glance_rules.PropertyRules(_Enforcer())
        except (
            glance_exception.InvalidPropertyProtectionConfiguration,
            configparser.Error,
        ):
            return None

    return load


def satisfies(rule_format, roles):
    rules = policy.Rules.from_dict(POLICIES)

    def is_held(holder):
        if rule_format is RuleFormat.ROLES:
            return holder in roles
        return holder in rules and rules[holder](
            {}, {"roles": roles}, types.SimpleNamespace(rules=rules)
        )

    return is_held


def check_same(glance_says, text, rule_format, names, role_sets):
    try:
        ours = protections.parse(text, rule_format)
    except protections.ProtectionFileError:
        ours = None
    theirs = glance_says(text, rule_format)
    assert (ours is None) == (theirs is None)
    if ours is None:
        return 0
    count = 0
    for name, operation, roles in itertools.product(
        names, Operation, role_sets
    ):
        context = types.SimpleNamespace(roles=list(roles), service_roles=None)
        expected = theirs.check_property_rules(name, operation.value, context)
        permitted = ours.is_permitted(
            name, operation, satisfies(rule_format, roles)
        )
        assert permitted == expected, (name, operation, roles)
        count += permitted
    return count


@pytest.mark.parametrize("rule_format", RuleFormat)
def test_each_case_of_glances_own_files_has_glances_answer(
    rule_format, glance
):
    permitted = check_same(
        glance,
        FILES[rule_format],
        rule_format,
        NAMES,
        [
            roles
            for n in (0, 1, 2)
            for roles in itertools.combinations(ROLES, n)
        ],
    )
    assert permitted > 100


ONE = ["@", "!", "admin", "Member", "context_is_admin", "default", "unknown"]
holders = st.sampled_from(ONE) | st.lists(
    st.sampled_from([*ONE, " "]), max_size=3
).map(",".join)
complete = st.fixed_dictionaries(
    dict.fromkeys(["create", "read", "update", "delete"], holders)
)
incomplete = st.dictionaries(
    st.sampled_from(["create", "Read", "update", "dele te"]), holders
)
sections = st.dictionaries(
    st.sampled_from(
        ["hw_.*", "^hw", "disk", "x_foo_*", ".*", "[", "os_glance_a", "%"]
    ),
    st.one_of(complete, complete, complete, incomplete),
    max_size=3,
)


@pytest.mark.parametrize("rule_format", RuleFormat)
def test_any_file_means_what_it_means_to_glance(rule_format, glance):
    permitted = []

    @settings(max_examples=400, deadline=None)
    @given(sections)
    def compare(drawn):
        text = "".join(
            f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items())
            for name, entries in drawn.items()
        )
        permitted.append(
            check_same(
                glance,
                text,
                rule_format,
                ["hw_disk_bus", "x_fo", "os_name"],
                [[], ["member"], ["admin", "reader"]],
            )
        )

    compare()
    # else the files would say nothing
    assert sum(map(bool, permitted)) > 20


COMPLETE = "create = @\nread = @\nupdate = @\ndelete = @\n"


@pytest.mark.parametrize(
    ("text", "rule_format", "words"),
    [
        ("hw = @\n", "roles", "not in the format"),
        ("[hw\ncreate = @\n", "roles", "not in the format"),
        (f"[a]\n{COMPLETE}[a]\n{COMPLETE}", "roles", "not in the format"),
        (f"[a]\n{COMPLETE}create = !\n", "roles", "not in the format"),
        ("[a]\ncreate = @\nread = @\nupdate = @\n", "roles", "no delete"),
        (f"[(]\n{COMPLETE}", "roles", "no regular expression"),
        (
            "[a]\ncreate = @,!\nread = @\nupdate = @\ndelete = @\n",
            "roles",
            "[a] create has both @ and !",
        ),
        (
            "[a]\ncreate = b,c\nread = @\nupdate = @\ndelete = @\n",
            "policies",
            "[a] create names more than one rule",
        ),
        (
            "[a]\ncreate = %(b)s\nread = @\nupdate = @\ndelete = @\n",
            "roles",
            "[a] create cannot be expanded",
        ),
    ],
)
def test_a_file_that_glance_refuses_is_refused(
    text, rule_format, words, glance
):
    with pytest.raises(
        protections.ProtectionFileError, match=re.escape(words)
    ):
        protections.parse(text, RuleFormat(rule_format))
    if "expanded" not in words:  # there Glance stops with a traceback
        assert glance(text, RuleFormat(rule_format)) is None


def test_an_error_of_the_parser_does_not_quote_the_file():
    with pytest.raises(protections.ProtectionFileError) as refused:
        protections.parse("secret-role = @\n", RuleFormat.ROLES)
    assert "secret" not in str(refused.value)


def permitted(text, name, operation, *roles):
    return protections.parse(text, RuleFormat.ROLES).is_permitted(
        name, operation, roles.__contains__
    )


def test_the_first_section_that_matches_decides():
    text = (
        "[^hw_disk]\ncreate = !\nread = @\nupdate = @\ndelete = @\n"
        f"[.*]\n{COMPLETE}"
    )
    assert not permitted(text, "hw_disk_bus", Operation.CREATE, "admin")
    assert permitted(text, "hw_vif_model", Operation.CREATE)


@pytest.mark.parametrize("text", ["", "# nothing\n", f"[^x_]\n{COMPLETE}"])
def test_a_property_that_no_section_matches_is_for_nobody(text):
    for operation in Operation:
        assert not permitted(text, "hw_disk_bus", operation, "admin")


def needed(said, **overrides):
    overrides = {k.replace("__", "."): v for k, v in overrides.items()}
    return protections.find_needed(
        said,
        merge.merge(said, overrides, VOCABULARY),
        merge.find_replaced(said, overrides, VOCABULARY),
    )


WRITE = (Operation.READ, Operation.UPDATE)


def test_what_the_image_does_not_have_is_created():
    assert needed({"a": "b"}, hw_disk_bus="ide") == {
        "hw_disk_bus": (Operation.CREATE,)
    }


def test_what_the_image_has_is_updated_to_the_same_value_too():
    for value in ("ide", "scsi"):
        assert needed({"hw_disk_bus": value}, hw_disk_bus="ide") == {
            "hw_disk_bus": WRITE
        }


def test_no_override_needs_nothing():
    assert needed({"hw_disk_bus": "ide"}) == {}


def test_names_that_go_with_an_override_count_too():
    said = {"vmware_adaptertype": "lsiLogic"}
    assert needed(said, hw_disk_bus="ide") == {
        "hw_disk_bus": (Operation.CREATE,),
        "vmware_adaptertype": (*WRITE, Operation.DELETE),
    }
    assert needed({}, hw_architecture="i686") == {
        "architecture": (Operation.CREATE,),
        "hw_architecture": (Operation.CREATE,),
    }
    said = {"architecture": "x86_64"}
    assert needed(said, hw_architecture="i686") == {
        "architecture": WRITE,
        "hw_architecture": (Operation.CREATE,),
    }


def test_nodes_that_an_override_takes_away_are_deleted():
    said = {"hw_numa_cpus.0": "0", "hw_numa_cpus.1": "1"}
    assert needed(said, hw_numa_cpus__0="0-1") == {
        "hw_numa_cpus.0": WRITE,
        "hw_numa_cpus.1": (*WRITE, Operation.DELETE),
    }
