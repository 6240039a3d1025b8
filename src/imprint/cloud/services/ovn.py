"""Open vSwitch and OVN: the network of the servers.

All of it in user space and on Unix sockets: no kernel module, no agent.
One ovsdb-server keeps the three databases.  ovs-vswitchd runs in the cloud's
own network namespace, so its bridge and taps never show on the host.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud.errors import CommandError
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import HOSTNAME, INSIDE
from imprint.cloud.services.shared import OVSDB_SOCKET, listens
from imprint.cloud.settings import LOOPBACK

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

STATE = INSIDE.state / "ovs"
SOCKETS = Path(OVSDB_SOCKET).parent
REMOTE = f"unix:{OVSDB_SOCKET}"
DATABASES = {
    "conf": "/usr/share/openvswitch/vswitch.ovsschema",
    "northbound": "/usr/share/ovn/ovn-nb.ovsschema",
    "southbound": "/usr/share/ovn/ovn-sb.ovsschema",
}
ENVIRONMENT = {
    "OVS_RUNDIR": str(SOCKETS),
    "OVN_RUNDIR": str(SOCKETS),
    "OVS_DBDIR": str(STATE),
    "OVN_DBDIR": str(STATE),
}


def build(_settings: Settings) -> tuple[Node, ...]:
    """Build the database, the switch and OVN's two daemons."""
    northd, controller, switch = (
        SOCKETS / f"{name}.ctl"
        for name in ("ovn-northd", "ovn-controller", "ovs-vswitchd")
    )
    return (
        Service(
            name="ovsdb",
            command=(
                *("ovsdb-server", f"--remote=punix:{OVSDB_SOCKET}"),
                f"--unixctl={SOCKETS}/ovsdb.ctl",
                *(str(STATE / f"{name}.db") for name in DATABASES),
            ),
            environment=ENVIRONMENT,
            prepare=_create_databases,
            ready=listens(OVSDB_SOCKET),
            stop_last=True,
        ),
        Step(name="ovs-settings", needs=("ovsdb",), run=_configure),
        Service(
            name="ovs-vswitchd",
            needs=("ovs-settings",),
            command=(
                *("ovs-vswitchd", f"--unixctl={switch}"),
                *("--disable-system", REMOTE),
            ),
            environment=ENVIRONMENT,
            own_network=True,
            ready=listens(switch),
            stop_last=True,
        ),
        Service(
            name="ovn-northd",
            needs=("ovs-settings",),
            command=(
                *("ovn-northd", f"--unixctl={northd}"),
                *(f"--ovnnb-db={REMOTE}", f"--ovnsb-db={REMOTE}"),
            ),
            environment=ENVIRONMENT,
            ready=listens(northd),
            stop_last=True,
        ),
        Service(
            name="ovn-controller",
            needs=("ovs-vswitchd",),
            command=("ovn-controller", f"--unixctl={controller}", REMOTE),
            environment=ENVIRONMENT,
            ready=listens(controller),
            stop_last=True,
        ),
    )


def _run(*command: str) -> None:
    done = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise CommandError(command[0], done.returncode, done.stdout.strip())


def _create_databases() -> None:
    STATE.mkdir(exist_ok=True)
    SOCKETS.mkdir(exist_ok=True)
    for name, schema in DATABASES.items():
        database = STATE / f"{name}.db"
        if not database.exists():
            new = STATE / f"{name}.db.new"
            new.unlink(missing_ok=True)
            _run("ovsdb-tool", "create", str(new), schema)
            new.rename(database)


def _configure() -> None:
    identifiers = {
        "system-id": HOSTNAME,
        "hostname": HOSTNAME,
        "ovn-remote": REMOTE,
        "ovn-encap-type": "geneve",
        "ovn-encap-ip": LOOPBACK,
        "ovn-bridge-datapath-type": "netdev",
    }
    _run(
        *("ovs-vsctl", f"--db={REMOTE}", "--no-wait", "--timeout=20"),
        *("--", "init", "--", "set", "open", "."),
        *(f'external-ids:{k}="{v}"' for k, v in identifiers.items()),
    )
