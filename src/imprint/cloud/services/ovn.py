"""Open vSwitch and OVN: the network of the servers.

All of it in user space: no kernel module, no agent.  The first host's
ovsdb-server keeps OVN's two databases beside those of its switch, all on
Unix sockets.  Each ovs-vswitchd runs in its host's network namespace, so
bridges and taps never show on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from imprint.cloud import computes
from imprint.cloud.computes import FIRST, OVN_SOCKET, OVSDB_SOCKET
from imprint.cloud.isolation import TUNNEL, run
from imprint.cloud.model import Service, Step
from imprint.cloud.services.shared import listens
from imprint.cloud.settings import LOOPBACK

if TYPE_CHECKING:
    from pathlib import Path

    from imprint.cloud.computes import Compute
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

SOCKETS = OVSDB_SOCKET.parent
REMOTE = f"unix:{OVN_SOCKET}"
TUNNEL_BRIDGE = f"br-{TUNNEL}"
_TRIES = 100
_SCHEMAS = {
    "conf": "/usr/share/openvswitch/vswitch.ovsschema",
    "northbound": "/usr/share/ovn/ovn-nb.ovsschema",
    "southbound": "/usr/share/ovn/ovn-sb.ovsschema",
}


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the databases and OVN's daemon, and each host's switch."""
    control = SOCKETS / "ovn-northd.ctl"
    return (
        _build_database(
            FIRST,
            databases=tuple(_SCHEMAS),
            sockets=(OVSDB_SOCKET, OVN_SOCKET),
        ),
        Service(
            name="ovn-northd",
            needs=("ovsdb",),
            command=(
                *("ovn-northd", f"--unixctl={control}"),
                *(f"--ovnnb-db={REMOTE}", f"--ovnsb-db={REMOTE}"),
            ),
            environment=_build_environment(FIRST),
            ready=listens(control),
            stop_last=True,
        ),
        *_build_switch(FIRST, settings),
        *(
            node
            for compute in computes.choose(settings.computes)[1:]
            for node in (
                _build_database(
                    compute, databases=("conf",), sockets=(OVSDB_SOCKET,)
                ),
                *_build_switch(compute, settings),
            )
        ),
    )


def _build_database(
    compute: Compute, *, databases: tuple[str, ...], sockets: tuple[Path, ...]
) -> Service:
    state = compute.state("ovs")

    def prepare() -> None:
        for socket in sockets:
            compute.seen(socket).parent.mkdir(exist_ok=True)
        _create_databases(state, databases)

    return Service(
        name=f"ovsdb{compute.suffix}",
        needs=compute.needs,
        command=(
            "ovsdb-server",
            *(f"--remote=punix:{socket}" for socket in sockets),
            f"--unixctl={SOCKETS}/ovsdb.ctl",
            *(str(state / f"{name}.db") for name in databases),
        ),
        environment=_build_environment(compute),
        enter=compute.enter,
        prepare=prepare,
        ready=listens(compute.seen(OVSDB_SOCKET)),
        stop_last=True,
    )


def _build_switch(compute: Compute, settings: Settings) -> tuple[Node, ...]:
    """Build a host's switch and what tells it of OVN's networks."""
    suffix = compute.suffix
    alone = settings.computes == 1
    controller, switch = (
        SOCKETS / f"{name}.ctl" for name in ("ovn-controller", "ovs-vswitchd")
    )
    environment = _build_environment(compute)
    return (
        Step(
            name=f"ovs-settings{suffix}",
            needs=(f"ovsdb{suffix}",),
            run=lambda: _configure(compute, alone=alone),
        ),
        Service(
            name=f"ovs-vswitchd{suffix}",
            needs=(f"ovs-settings{suffix}",),
            command=(
                *("ovs-vswitchd", f"--unixctl={switch}"),
                *("--disable-system", f"unix:{OVSDB_SOCKET}"),
            ),
            environment=environment,
            enter=compute.enter_network,
            ready=listens(compute.seen(switch)),
            stop_last=True,
        ),
        Step(
            name=f"ovs-tunnel{suffix}",
            # The cable's other end is in the second host's network.
            needs=(
                f"ovs-vswitchd{suffix}",
                *(() if alone else ("compute-2",)),
            ),
            run=(lambda: None) if alone else lambda: _ensure_tunnel(compute),
        ),
        Service(
            name=f"ovn-controller{suffix}",
            needs=(f"ovs-tunnel{suffix}",),
            command=(
                *("ovn-controller", f"--unixctl={controller}"),
                f"unix:{OVSDB_SOCKET}",
            ),
            environment=environment,
            enter=compute.enter,
            ready=listens(compute.seen(controller)),
            stop_last=True,
        ),
    )


def _build_environment(compute: Compute) -> dict[str, str]:
    return {
        "OVS_RUNDIR": str(SOCKETS),
        "OVN_RUNDIR": str(SOCKETS),
        "OVS_DBDIR": str(compute.state("ovs")),
        "OVN_DBDIR": str(compute.state("ovs")),
    }


def _create_databases(state: Path, names: tuple[str, ...]) -> None:
    state.mkdir(exist_ok=True)
    for name in names:
        database = state / f"{name}.db"
        if not database.exists():
            new = state / f"{name}.db.new"
            new.unlink(missing_ok=True)
            run("ovsdb-tool", "create", str(new), _SCHEMAS[name])
            new.rename(database)


def _set_switch(compute: Compute, *arguments: str) -> None:
    remote = f"--db=unix:{compute.seen(OVSDB_SOCKET)}"
    run("ovs-vsctl", remote, "--timeout=20", *arguments)


def _configure(compute: Compute, *, alone: bool) -> None:
    identifiers = {
        "system-id": compute.hostname,
        "hostname": compute.hostname,
        "ovn-remote": REMOTE,
        "ovn-encap-type": "geneve",
        "ovn-encap-ip": LOOPBACK if alone else compute.tunnel_address,
        "ovn-bridge-datapath-type": "netdev",
    }
    _set_switch(
        compute,
        *("--no-wait", "--", "init", "--", "set", "open", "."),
        *(f'external-ids:{k}="{v}"' for k, v in identifiers.items()),
        *(("--", "--if-exists", "del-br", TUNNEL_BRIDGE) if alone else ()),
    )


def _ensure_tunnel(compute: Compute) -> None:
    """Let the switch reach the other one's.

    In user space it wraps packets for another host only when it finds that
    host behind one of its own bridges: docs/howto/userspace-tunneling of
    Open vSwitch.  The bridge's device ends with the switch, so its address
    is given anew each time.
    """
    _set_switch(
        compute,
        *("--", "--may-exist", "add-br", TUNNEL_BRIDGE),
        *("--", "set", "bridge", TUNNEL_BRIDGE, "datapath_type=netdev"),
        *("--", "--may-exist", "add-port", TUNNEL_BRIDGE, TUNNEL),
    )
    # A switch that has only just started may be about to make the device.
    script = f"""
        tries=0
        until ip link set {TUNNEL_BRIDGE} up; do
            tries=$((tries + 1))
            [ $tries -lt {_TRIES} ]
            sleep 0.1
        done
        ip address replace {compute.tunnel_address}/24 dev {TUNNEL_BRIDGE}
    """
    run(*compute.enter_network, "sh", "-ec", script)
