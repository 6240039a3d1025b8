"""Nova: API, conductor, scheduler and compute; with Imprint or stock."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

from imprint.cloud import accelerator, computes, ini
from imprint.cloud.computes import OVSDB_SOCKET, RUN
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import HOSTNAME, INSIDE, VENV
from imprint.cloud.services import libvirt
from imprint.cloud.services.shared import (
    DATABASE_SOCKET,
    ENVIRONMENT,
    PYTHON,
    answers,
    build_auth,
    build_authtoken,
    build_database,
    build_transport,
    build_wsgi_command,
)
from imprint.cloud.settings import LOOPBACK, REGION

if TYPE_CHECKING:
    from pathlib import Path

    from imprint.cloud.computes import Compute
    from imprint.cloud.ini import Sections
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = INSIDE.etc / "nova"
CONFIG = ETC / "nova.conf"
PASTE = ETC / "api-paste.ini"
STATE = INSIDE.state / "nova"

ROUTER = "imprint.nova.router:Router.factory"
# Nova's default, and the one that looks at the NUMA nodes of a server.
FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "NUMATopologyFilter",
)
VERSION_FILTER = "imprint.nova.version_filter:VersionFilter.factory"


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration steps and the services."""
    return (
        Step(name="nova-conf", run=lambda: write(settings)),
        Service(
            name="nova-api",
            needs=("schema", "rabbitmq"),
            command=build_wsgi_command(
                "nova.wsgi.osapi_compute", settings.ports["nova"]
            ),
            environment={**ENVIRONMENT, "OS_NOVA_CONFIG_DIR": str(ETC)},
            ready=answers(settings.url("nova")),
        ),
        _build_rpc_service("conductor"),
        _build_rpc_service("scheduler"),
        *(
            node
            for compute in computes.choose(settings.computes)
            for node in _build_host(compute, settings)
        ),
    )


def _build_host(compute: Compute, settings: Settings) -> tuple[Node, ...]:
    """Build what a compute host runs of Nova."""
    suffix = compute.suffix
    config = name_config(compute)
    started = RUN / f"nova-compute{suffix}.started"

    def write_config() -> None:
        compute.state("nova").mkdir(exist_ok=True)
        ini.write(config, build_compute(settings, compute))
        name_additions(compute).mkdir(exist_ok=True)

    return (
        Step(
            name=f"nova-compute{suffix}-conf",
            needs=("accelerator",),
            run=write_config,
        ),
        Service(
            name=f"nova-compute{suffix}",
            needs=(
                *(f"nova-compute{suffix}-conf", "nova-conductor", "placement"),
                *(f"libvirtd{suffix}", f"ovn-controller{suffix}"),
            ),
            command=(
                *(f"{VENV}/bin/nova-compute", "--config-file", str(config)),
                *("--config-dir", str(name_additions(compute))),
            ),
            environment=ENVIRONMENT,
            enter=compute.enter,
            prepare=started.touch,
            ready=lambda: _is_compute_heard(compute, started),
            # It would take the end of its guests for their owners' wish.
            stop_first=True,
        ),
    )


def name_config(compute: Compute) -> Path:
    """Name the file that a host's nova-compute reads.

    Its own: nova-compute does not start when it is told of any database.
    """
    return ETC / f"nova-compute{compute.suffix}.conf"


def name_additions(compute: Compute) -> Path:
    """Name the directory whose files a host's nova-compute reads besides.

    They belong to who wrote them: no start of the cloud changes any.
    """
    config = name_config(compute)
    return config.with_name(config.name + ".d")


def _build_rpc_service(name: str) -> Service:
    started = RUN / f"nova-{name}.started"
    return Service(
        name=f"nova-{name}",
        # It ends when Keystone does not know its user yet.
        needs=("schema", "rabbitmq", "identity"),
        command=(
            *(PYTHON, "-m", "imprint.cloud.nova_service", name),
            *(str(started), "--config-file", str(CONFIG)),
        ),
        environment=ENVIRONMENT,
        prepare=lambda: started.unlink(missing_ok=True),
        ready=started.exists,
    )


# Both facts outlive a nova-compute: only what is younger than this one counts.
_COMPUTE_IS_HEARD = """
    set time_zone = '+00:00';
    select count(*) from nova_api.host_mappings, nova.services
    where services.binary = 'nova-compute' and services.deleted = 0
    and services.host = '{host}' and host_mappings.host = services.host
    and coalesce(last_seen_up, services.created_at) >= from_unixtime({start})
"""


def _is_compute_heard(compute: Compute, started: Path) -> bool:
    """Whether Nova has mapped the host and heard of it since the start."""
    start = int(started.stat().st_mtime)
    done = subprocess.run(
        [
            *("mariadb", "--no-defaults", f"--socket={DATABASE_SOCKET}"),
            *("--batch", "--skip-column-names", "--execute"),
            _COMPUTE_IS_HEARD.format(start=start, host=compute.hostname),
        ],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return done.stdout.strip() == "1"


def write(settings: Settings) -> None:
    """Write Nova's files."""
    libvirt.INSTANCES.mkdir(parents=True, exist_ok=True)
    ini.write(CONFIG, {**build_common(settings), **build_databases()})
    paste = (VENV / "etc/nova/api-paste.ini").read_text()
    if not settings.stock:
        paste = ini.edit_paste(
            paste, router=ROUTER, version_filter=VERSION_FILTER
        )
    ini.write_private(PASTE, paste)


def build_databases() -> Sections:
    """Build what all but nova-compute know besides."""
    return {
        "api_database": build_database("nova_api"),
        "database": build_database("nova"),
        # Nova's map of hosts lags by that much.
        "scheduler": {"discover_hosts_in_cells_interval": 3},
        "filter_scheduler": {"enabled_filters": ",".join(FILTERS)},
    }


def build_common(settings: Settings) -> Sections:
    """Build what all of Nova's services know."""
    auth = build_auth(settings, "nova")
    return {
        "DEFAULT": _build_default(settings),
        "api": {"auth_strategy": "keystone"},
        "wsgi": {"api_paste_config": str(PASTE)},
        "oslo_concurrency": {"lock_path": "/run/nova"},
        "oslo_messaging_notifications": {"driver": "noop"},
        "quota": dict.fromkeys(
            (
                *("instances", "cores", "ram", "metadata_items", "key_pairs"),
                *("server_groups", "server_group_members"),
            ),
            -1,
        ),
        "vnc": {"enabled": False},
        "placement": auth,
        "glance": {
            "region_name": REGION,
            "endpoint_override": settings.url("glance"),
        },
        "neutron": auth,
        "service_user": {"send_service_user_token": True, **auth},
        **build_authtoken(settings, "nova"),
    }


def build_compute(settings: Settings, compute: Compute) -> Sections:
    """Build what a host's nova-compute knows: no database."""
    common = build_common(settings)
    default = {
        **common["DEFAULT"],
        "host": compute.hostname,
        "state_path": str(compute.state("nova")),
        "instances_path": str(libvirt.INSTANCES),
    }
    config = name_config(compute)
    helper = [f"{VENV}/bin/privsep-helper", "--config-file", config]
    privileged = {"helper_command": shlex.join(map(str, helper))}
    # It plugs ports into the switch, so it must see the taps.
    in_network = {
        "helper_command": shlex.join(map(str, [*compute.to_network, *helper]))
    }
    return {
        **common,
        "DEFAULT": default,
        "libvirt": {
            "virt_type": accelerator.read_virt_type(),
            "cpu_mode": "none",
            "connection_uri": libvirt.URI,
            "images_type": "qcow2",
            "live_migration_inbound_addr": compute.migration_address,
        },
        "os_vif_ovs": {"ovsdb_connection": f"unix:{OVSDB_SOCKET}"},
        "vif_plug_ovs_privileged": in_network,
        "nova_sys_admin": privileged,
        "privsep_osbrick": privileged,
        "os_brick": {"lock_path": "/run/nova"},
    }


def _build_default(settings: Settings) -> dict[str, ini.Value]:
    driver = "libvirt" if settings.stock else "imprint"
    return {
        "host": HOSTNAME,
        # Hosts of one address: so Nova knows that their disks are shared,
        # which it would else find out by ssh.
        "my_ip": LOOPBACK,
        "state_path": str(STATE),
        "transport_url": build_transport(settings),
        "use_stderr": True,
        "compute_driver": f"{driver}.LibvirtDriver",
        # Servers that ran before `down` run again after `up`.
        "resume_guests_state_on_host_boot": True,
        "vif_plugging_timeout": 60,
        "reserved_host_memory_mb": 512,
        "initial_disk_allocation_ratio": 4,
        "ram_allocation_ratio": 2,
        "cpu_allocation_ratio": 16,
        "update_resources_interval": 0,
        "allow_resize_to_same_host": True,
        # The first rounds of periodic tasks come at once.
        "periodic_fuzzy_delay": 0,
        # Asked to end, it must not take messages for another minute.
        "manager_shutdown_timeout": 1,
        "graceful_shutdown_timeout": 3,
        # A guest that ignores its power button costs that much.
        "shutdown_timeout": 2,
    }
