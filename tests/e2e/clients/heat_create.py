"""Create the stack of a Heat template with Heat's own engine.

``heat_create.py TEMPLATE``, in an environment that has Heat. The engine's
code runs in this process: it parses the template, validates it against the
properties of OS::Nova::Server, and its resource creates the server through
its own clients. The database is in memory and no service has to run.
"""

import os
import pathlib
import sys

# Read when Heat is imported: with eventlet it would patch this process.
os.environ["OS_HEAT_DISABLE_EVENTLET_PATCHING"] = "true"

import openstack
from heat.common import context, messaging, template_format
from heat.db import api, models
from heat.engine import resources, stack, template
from oslo_config import cfg

SETTINGS = (
    ("connection", "sqlite://", "database"),
    # the caller's token creates the stack at once, no trust for later
    ("deferred_auth_method", "password", None),
    # where guests would find Heat, which only a running Heat knows
    ("heat_metadata_server_url", "http://192.0.2.1", None),
)


def main(path: str) -> str | None:
    """Create the stack; return an error, or nothing."""
    cfg.CONF([], project="heat", default_config_files=[])
    for name, value, group in SETTINGS:
        cfg.CONF.set_override(name, value, group=group)
    messaging.setup("fake://")
    conn = openstack.connect()
    caller = context.RequestContext(
        auth_plugin=conn.session.auth,
        is_admin=False,
        project_id=conn.current_project_id,
        region_name=conn.config.get_region_name(),
        user_id=conn.current_user_id,
    )
    with api.context_manager.writer.using(caller):
        models.BASE.metadata.create_all(caller.session.get_bind())
    resources.initialise()
    text = pathlib.Path(path).read_text()
    asked = stack.Stack(
        caller, "recipe", template.Template(template_format.parse(text))
    )
    asked.validate()
    asked.store()
    asked.create()
    if asked.state == (asked.CREATE, asked.COMPLETE):
        return None
    return f"{asked.state}: {asked.status_reason}"


sys.exit(main(sys.argv[1]))
