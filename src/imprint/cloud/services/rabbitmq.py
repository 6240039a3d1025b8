"""RabbitMQ: the messages between Nova's and Neutron's processes.

oslo.messaging's own `fake` transport stays in one process.  Erlang's port
mapper is started here, and first: started by Erlang it would listen on all
addresses of the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from imprint.cloud.ini import write_private
from imprint.cloud.model import Service
from imprint.cloud.paths import INSIDE
from imprint.cloud.services.shared import accepts
from imprint.cloud.settings import LOOPBACK

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

STATE = INSIDE.state / "rabbitmq"
ETC = INSIDE.etc / "rabbitmq"

# One scheduler, which sleeps when there is nothing to do
_ERLANG = "+S 1:1 +sbwt none +A 4"


def build(settings: Settings) -> tuple[Node, ...]:
    """Build Erlang's port mapper and the broker."""
    ports = settings.ports
    return (
        Service(
            name="epmd",
            command=(
                *("epmd", "-address", LOOPBACK),
                *("-port", str(ports["epmd"])),
            ),
            ready=accepts(ports["epmd"]),
            stop_last=True,
        ),
        Service(
            name="rabbitmq",
            needs=("epmd",),
            command=("/usr/lib/rabbitmq/bin/rabbitmq-server",),
            environment={
                # Erlang's cookie and the like
                "HOME": str(STATE),
                "ERL_EPMD_ADDRESS": LOOPBACK,
                "ERL_EPMD_PORT": str(ports["epmd"]),
                # Once a minute it starts a mapper of its own if there is
                # none, and then the port of ours is taken.
                "ERL_AFLAGS": "-start_epmd false",
                "RABBITMQ_NODENAME": "openstack@localhost",
                "RABBITMQ_BASE": str(STATE),
                "RABBITMQ_MNESIA_BASE": str(STATE / "mnesia"),
                "RABBITMQ_LOGS": "-",
                "RABBITMQ_CONFIG_FILE": str(ETC / "rabbitmq.conf"),
                "RABBITMQ_ADVANCED_CONFIG_FILE": str(ETC / "advanced.config"),
                "RABBITMQ_ENABLED_PLUGINS_FILE": str(ETC / "plugins"),
                "RABBITMQ_PID_FILE": "/run/rabbitmq.pid",
                "RABBITMQ_CONF_ENV_FILE": "/dev/null",
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": _ERLANG,
            },
            prepare=lambda: _write(settings),
            ready=accepts(ports["rabbitmq"]),
            stop_seconds=15,
            stop_last=True,
        ),
    )


def _write(settings: Settings) -> None:
    STATE.mkdir(exist_ok=True, mode=0o700)
    lines = {
        "listeners.tcp.1": f"{LOOPBACK}:{settings.ports['rabbitmq']}",
        "vm_memory_high_watermark.absolute": "512MB",
        "log.console": "true",
        "log.file": "false",
        "default_user": "openstack",
        "default_pass": settings.passwords["rabbitmq"],
    }
    write_private(
        ETC / "rabbitmq.conf",
        "".join(f"{key} = {value}\n" for key, value in lines.items()),
    )
    port = settings.ports["erlang"]
    write_private(
        ETC / "advanced.config",
        "[{kernel, ["
        "{inet_dist_use_interface, {127, 0, 0, 1}}, "
        f"{{inet_dist_listen_min, {port}}}, "
        f"{{inet_dist_listen_max, {port}}}]}}].\n",
    )
