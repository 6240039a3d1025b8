"""oslo's own commands, which find Imprint through its entry points."""

import os
import pathlib
import subprocess
import sys

import pytest
import yaml

from imprint import conf
from imprint.nova import policies

BIN = pathlib.Path(sys.executable).parent
RULES = {rule.name: rule for rule in policies.list_rules()}


def run(command, *arguments, home="/nonexistent", status=0):
    done = subprocess.run(
        [BIN / command, "--namespace", "imprint", *arguments],
        env={**os.environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.fixture
def site(tmp_path):
    """Return a function that writes Nova's policy file, and a home."""
    (tmp_path / ".nova").mkdir()
    policy = tmp_path / "policy.yaml"
    (tmp_path / ".nova/nova.conf").write_text(
        f"[oslo_policy]\npolicy_file = {policy}\n"
    )

    def write(text):
        policy.write_text(text)
        return tmp_path

    return write


def test_the_sample_of_options_has_each_with_its_help_and_default():
    sample = run("oslo-config-generator")
    assert "[image_props_override]" in sample
    for _, options in conf.list_opts():
        for option in options:
            assert f"\n#{option.name} = " in sample
            first = option.help.strip().partition("\n")[0]
            assert first[:50] in sample
    assert "#accept_scheduler_hints = true" in sample
    assert "#on_rebuild = keep" in sample


def test_the_sample_of_rules_has_each_with_default_scope_and_operation():
    sample = run("oslopolicy-sample-generator")
    for name, rule in RULES.items():
        assert f'#"{name}": "{rule.check_str}"' in sample
        for operation in rule.operations:
            assert f"# {operation['method']}  {operation['path']}" in sample
    assert sample.count("# Intended scope(s): project") == len(RULES)
    enabled = "\n".join(
        line.removeprefix("#")
        for line in sample.splitlines()
        if line.startswith('#"')
    )
    assert yaml.safe_load(enabled) == {
        name: rule.check_str for name, rule in RULES.items()
    }


def test_a_rule_that_repeats_its_default_is_redundant(site):
    home = site(
        f'"{policies.CREATE}": "{RULES[policies.CREATE].check_str}"\n'
        f'"{policies.SHOW}": "role:auditor"\n'
    )
    listed = run("oslopolicy-list-redundant", home=home)
    assert policies.CREATE in listed
    assert policies.SHOW not in listed


def test_a_policy_file_for_nova_and_imprint_together_is_valid(site):
    home = site(
        f'"{policies.CREATE}": "rule:project_member_or_admin"\n'
        '"os_compute_api:servers:create": "rule:project_member_or_admin"\n'
    )
    run("oslopolicy-validator", home=home)


def test_a_slip_in_the_name_of_a_rule_is_found(site):
    home = site(f'"{policies.CREATE}d": "role:member"\n')
    found = run("oslopolicy-validator", home=home, status=1)
    assert f"Unknown rule found in policy file: {policies.CREATE}d" in found


def test_the_rules_in_force_are_those_of_the_file_over_the_defaults(site):
    home = site(f'"{policies.CREATE}": "role:tuner"\n')
    in_force = yaml.safe_load(run("oslopolicy-policy-generator", home=home))
    assert in_force[policies.CREATE] == "role:tuner"
    assert in_force[policies.SHOW] == RULES[policies.SHOW].check_str
