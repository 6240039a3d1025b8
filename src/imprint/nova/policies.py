"""Who may override image properties, and who sees the overrides.

Nova's enforcer knows Nova's rules only.  Imprint has one of its own on the
same configuration and policy file, with Nova's base rules in it.
"""

from typing import Any

from nova import context as nova_context
from nova import exception
from nova import policies as nova_policies
from nova.conf import CONF
from nova.policies import base
from oslo_config import cfg
from oslo_policy import policy

_OVERRIDE = "os_compute_api:imprint:image_props_override:"
_PROPERTIES = "os_compute_api:imprint:image_properties:"
_PATH = "/servers/{server_id}/image-properties"

CREATE = _OVERRIDE + "create"
SHOW = _OVERRIDE + "show"
REBUILD = _OVERRIDE + "rebuild"
UPDATE = _OVERRIDE + "update"
DELETE = _OVERRIDE + "delete"
PROPERTIES_SHOW = _PROPERTIES + "show"
PREVIEW = _PROPERTIES + "preview"

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
    policy.DocumentedRuleDefault(
        name=REBUILD,
        check_str=base.PROJECT_MEMBER_OR_ADMIN,
        description="Replace the overrides of a server that is rebuilt.",
        operations=[
            {
                "method": "POST",
                "path": "/servers/{server_id}/action (rebuild)",
            }
        ],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=UPDATE,
        check_str=base.PROJECT_MEMBER_OR_ADMIN,
        description="Replace the overrides of a stopped or shelved server.",
        operations=[{"method": "PUT", "path": f"{_PATH}/overrides"}],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=DELETE,
        check_str=base.PROJECT_MEMBER_OR_ADMIN,
        description="Remove an override of a stopped or shelved server.",
        operations=[
            {"method": "DELETE", "path": f"{_PATH}/overrides/{{key}}"}
        ],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=PROPERTIES_SHOW,
        check_str=base.PROJECT_READER_OR_ADMIN,
        description=(
            "See the image properties that a server has, where each comes "
            "from and what its image said."
        ),
        operations=[{"method": "GET", "path": _PATH}],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=PREVIEW,
        check_str=base.PROJECT_MEMBER_OR_ADMIN,
        description=(
            "See which image properties a server would have and whether it "
            "would be created. Nova's own rules for creating it are asked too."
        ),
        operations=[{"method": "POST", "path": "/image-properties/preview"}],
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


def get_enforcer() -> policy.Enforcer:
    """Build an enforcer for oslo.policy's commands.

    It knows every rule that the file may have, Nova's too: they would be
    reported as unknown otherwise.
    """
    CONF([], project="nova")
    enforcer = policy.Enforcer(CONF)
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults([*nova_policies.list_rules(), *RULES])
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
