"""Who may override, and who sees it."""

import pytest
from nova import context as nova_context
from nova import exception
from oslo_config import cfg
from oslo_policy import opts

from imprint.nova import policies

OURS = {"project_id": "p", "user_id": "u"}


@pytest.fixture
def enforcer(tmp_path):
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    opts.set_defaults(conf, policy_file=str(tmp_path / "policy.yaml"))
    return policies.build_enforcer(conf)


def may(enforcer, rule, *roles, project="p", **kwargs):
    # is_admin is Nova's own to find out, from its own policy
    context = nova_context.RequestContext(
        "u", project, roles=list(roles), is_admin=False, **kwargs
    )
    return policies.is_authorized(enforcer, context, rule, OURS)


def test_members_of_the_project_override_and_readers_see(enforcer):
    assert may(enforcer, policies.CREATE, "member", "reader")
    assert not may(enforcer, policies.CREATE, "reader")
    assert may(enforcer, policies.SHOW, "reader")


def test_other_projects_see_nothing(enforcer):
    for rule in (policies.CREATE, policies.SHOW):
        assert not may(enforcer, rule, "member", "reader", project="other")


def test_an_admin_may_do_both(enforcer):
    for rule in (policies.CREATE, policies.SHOW):
        assert may(enforcer, rule, "admin", project="other")


def test_a_token_of_the_system_may_do_neither(enforcer):
    for rule in (policies.CREATE, policies.SHOW):
        assert not may(
            enforcer, rule, "admin", project=None, system_scope="all"
        )


def test_the_operators_file_counts(enforcer, tmp_path):
    (tmp_path / "policy.yaml").write_text(f'"{policies.CREATE}": "!"\n')
    assert not may(enforcer, policies.CREATE, "admin")
    context = nova_context.RequestContext(
        "u", "p", roles=["admin"], is_admin=False
    )
    with pytest.raises(exception.PolicyNotAuthorized, match=policies.CREATE):
        policies.authorize(enforcer, context, policies.CREATE, OURS)


def test_every_rule_is_documented():
    for rule in policies.list_rules():
        assert rule.name.startswith("os_compute_api:imprint:")
        assert rule.description.endswith(".")
        assert rule.operations
        assert rule.scope_types == ["project"]


def test_a_new_enforcer_has_its_rules_before_it_is_asked(enforcer):
    # oslo.policy would load them within the first request, and refuse
    # others that come meanwhile
    assert policies.CREATE in enforcer.rules


READ = {policies.SHOW, policies.PROPERTIES_SHOW}
EVERY_RULE = pytest.mark.parametrize(
    "rule", [rule.name for rule in policies.list_rules()]
)


@EVERY_RULE
def test_each_rule_is_for_the_project_and_for_admins(enforcer, rule):
    assert may(enforcer, rule, "member", "reader")
    assert may(enforcer, rule, "reader") == (rule in READ)
    assert may(enforcer, rule, "admin", project="other")
    assert not may(enforcer, rule, "member", "reader", project="other")
    assert not may(enforcer, rule)


@EVERY_RULE
def test_no_rule_is_for_tokens_of_the_system_or_a_domain(enforcer, rule):
    for scope in ({"system_scope": "all"}, {"domain_id": "d"}):
        assert not may(
            enforcer, rule, "admin", "member", "reader", project=None, **scope
        )
