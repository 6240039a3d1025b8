"""Who may override image properties, and who sees the overrides.

Nova's enforcer knows Nova's rules only.  Imprint has one of its own on the
same configuration and policy file, with Nova's base rules in it.
"""

from typing import Any

from nova import context as nova_context
from nova import exception
from nova.policies import base
from oslo_config import cfg
from oslo_policy import policy

_NAME = "os_compute_api:imprint:image_props_override:"

CREATE = _NAME + "create"
SHOW = _NAME + "show"

RULES = [
    policy.DocumentedRuleDefault(
        name=CREATE,
        check_str=base.PROJECT_MEMBER_OR_ADMIN,
        description=(
            "Create a server with overrides of image properties. Which "
            "properties may be overridden is decided by the options of the "
            "group [image_props_override] in nova.conf."
        ),
        operations=[{"method": "POST", "path": "/servers"}],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=SHOW,
        check_str=base.PROJECT_READER_OR_ADMIN,
        description=(
            "See the overrides that a server was created with. Without it "
            "the answer has no image_props_override."
        ),
        operations=[{"method": "GET", "path": "/servers/{server_id}"}],
        scope_types=["project"],
    ),
]


def list_rules() -> list[policy.DocumentedRuleDefault]:
    """List Imprint's rules, for oslo.policy's generators and docs."""
    return RULES


def build_enforcer(conf: cfg.ConfigOpts) -> policy.Enforcer:
    """Build the enforcer of Imprint's rules."""
    enforcer = policy.Enforcer(conf)
    # as Nova does for its own enforcer
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults([*base.list_rules(), *RULES])
    # Now, as Nova does: oslo.policy's own lazy start is not thread-safe.
    enforcer.load_rules()
    return enforcer


def is_authorized(
    enforcer: policy.Enforcer,
    context: nova_context.RequestContext,
    rule: str,
    target: dict[str, Any],
) -> bool:
    """Tell whether ``rule`` allows the caller to act on ``target``."""
    try:
        return bool(enforcer.authorize(rule, target, context))
    except policy.InvalidScope:
        return False


def authorize(
    enforcer: policy.Enforcer,
    context: nova_context.RequestContext,
    rule: str,
    target: dict[str, Any],
) -> None:
    """Accept what ``rule`` allows the caller to do.

    :raises PolicyNotAuthorized: Nova's own, for a denied caller
    """
    if not is_authorized(enforcer, context, rule, target):
        raise exception.PolicyNotAuthorized(action=rule)
