"""Who sees and writes which server an image belongs to.

Glance's enforcer knows Glance's rules only.  Imprint has one of its own on
the same configuration and policy file, with Glance's base rules in it.  A
service that proves its installation writes relations without any rule: see
``imprint.glance.claims``.
"""

from typing import Any

from glance import policies as glance_policies
from glance.policies import base
from oslo_config import cfg
from oslo_policy import policy

LIST = "instance_aware:get_images"
ALL_PROJECTS = "instance_aware:all_projects"
SHOW = "instance_aware:get_instances"
ADD = "instance_aware:add_instance"
REMOVE = "instance_aware:delete_instance"

_INSTANCE = "/v2/instances/{installation_uuid}/{instance_uuid}"
_IMAGE = "/v2/images/{image_id}/instances"
_ONE = f"{_IMAGE}/{{installation_uuid}}/{{instance_uuid}}"

_READER = f"{base.ADMIN_OR_PROJECT_READER} or role:service"

RULES = [
    policy.DocumentedRuleDefault(
        name=LIST,
        check_str=_READER,
        description=(
            "List the images of a server. Which of them the caller sees is "
            "decided by Glance's own rules, and by whose server or image it "
            "is."
        ),
        operations=[
            {"method": "GET", "path": "/v2/images?nova_instance_uuid={uuid}"},
            {"method": "GET", "path": f"{_INSTANCE}/images"},
            {"method": "GET", "path": f"{_INSTANCE}/relations"},
        ],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=ALL_PROJECTS,
        check_str="rule:context_is_admin or role:service",
        description=(
            "See relations of servers and images of all projects. Without "
            "it only those of which the server or the image is the caller's "
            "project's."
        ),
        operations=[
            {"method": "GET", "path": "/v2/images?nova_instance_uuid={uuid}"},
            {"method": "GET", "path": f"{_INSTANCE}/images"},
            {"method": "GET", "path": f"{_INSTANCE}/relations"},
            {"method": "GET", "path": _IMAGE},
        ],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=SHOW,
        check_str=_READER,
        description="List the servers of an image that the caller sees.",
        operations=[{"method": "GET", "path": _IMAGE}],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=ADD,
        check_str="rule:context_is_admin",
        description=(
            "Say that an image belongs to a server, without being the "
            "service user of its installation."
        ),
        operations=[{"method": "PUT", "path": _ONE}],
        scope_types=["project"],
    ),
    policy.DocumentedRuleDefault(
        name=REMOVE,
        check_str="rule:context_is_admin",
        description=(
            "Say that an image no longer belongs to a server, without being "
            "the service user of its installation. The image stays."
        ),
        operations=[{"method": "DELETE", "path": _ONE}],
        scope_types=["project"],
    ),
]


def list_rules() -> list[policy.DocumentedRuleDefault]:
    """List Imprint's rules in Glance, for oslo.policy's generators."""
    return RULES


def build_enforcer(conf: cfg.ConfigOpts) -> policy.Enforcer:
    """Build the enforcer of Imprint's rules."""
    enforcer = policy.Enforcer(conf)
    # as Glance does for its own enforcer
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults([*base.list_rules(), *RULES])
    # Now: oslo.policy's own lazy start is not thread-safe.
    enforcer.load_rules()
    return enforcer


def get_enforcer() -> policy.Enforcer:
    """Build an enforcer for oslo.policy's commands.

    It knows every rule that the file may have, Glance's too.
    """
    cfg.CONF([], project="glance")
    enforcer = policy.Enforcer(cfg.CONF)
    enforcer.suppress_default_change_warnings = True
    enforcer.register_defaults([*glance_policies.list_rules(), *RULES])
    return enforcer


def is_authorized(enforcer: policy.Enforcer, context: Any, rule: str) -> bool:
    """Tell whether ``rule`` allows the caller to act for his project."""
    target = {"project_id": context.project_id}
    try:
        return bool(enforcer.authorize(rule, target, context))
    except policy.InvalidScope:
        return False
