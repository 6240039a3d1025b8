"""Neutron: networks and ports, by ML2 and OVN."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from imprint.cloud import ini
from imprint.cloud.computes import OVN_SOCKET, OVSDB_SOCKET
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import HOSTNAME, INSIDE, VENV
from imprint.cloud.services.shared import (
    ENVIRONMENT,
    answers,
    build_auth,
    build_authtoken,
    build_database,
    build_transport,
    build_wsgi_command,
)

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = INSIDE.etc / "neutron"
CONFIG = ETC / "neutron.conf"
ML2_CONFIG = ETC / "ml2_conf.ini"
STATE = INSIDE.state / "neutron"
TEMPORARY = Path("/run/neutron")


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration step and the API."""
    return (
        Step(name="neutron-conf", run=lambda: _write(settings)),
        Service(
            name="neutron",
            needs=("schema", "ovs-settings", "rabbitmq"),
            command=build_wsgi_command(
                "neutron.wsgi.api", settings.ports["neutron"]
            ),
            environment={
                **ENVIRONMENT,
                "OS_NEUTRON_CONFIG_DIR": str(ETC),
                "OS_NEUTRON_CONFIG_FILES": f"{CONFIG.name};{ML2_CONFIG.name}",
                # How OVN's driver counts API workers outside of uWSGI
                "ASGI_WORKERS": "1",
                "TMPDIR": str(TEMPORARY),
            },
            prepare=_prepare,
            ready=answers(settings.url("neutron")),
        ),
    )


def _prepare() -> None:
    # Neutron's processes find each other by files there, and would find
    # those of before.
    shutil.rmtree(TEMPORARY, ignore_errors=True)
    TEMPORARY.mkdir()


def _write(settings: Settings) -> None:
    STATE.mkdir(exist_ok=True)
    remote = f"unix:{OVN_SOCKET}"
    ini.write(
        CONFIG,
        {
            "DEFAULT": {
                "host": HOSTNAME,
                "state_path": str(STATE),
                "core_plugin": "ml2",
                # Without a router plugin, listing ports is a fault.
                "service_plugins": "ovn-router",
                "transport_url": build_transport(settings),
                "auth_strategy": "keystone",
                "api_paste_config": f"{VENV}/etc/neutron/api-paste.ini",
                "notify_nova_on_port_status_changes": True,
                "notify_nova_on_port_data_changes": True,
            },
            "database": build_database("neutron"),
            "nova": build_auth(settings, "nova"),
            "oslo_concurrency": {"lock_path": str(TEMPORARY / "locks")},
            "oslo_messaging_notifications": {"driver": "noop"},
            "quotas": {
                f"quota_{name}": -1
                for name in (
                    *("network", "subnet", "port"),
                    *("security_group", "security_group_rule"),
                )
            },
            **build_authtoken(settings, "neutron"),
        },
    )
    ini.write(
        ML2_CONFIG,
        {
            "ml2": {
                "type_drivers": ("local", "flat", "geneve"),
                "tenant_network_types": "geneve",
                "mechanism_drivers": "ovn",
                "extension_drivers": "port_security",
            },
            # 38 bytes is the Geneve header that OVN writes.
            "ml2_type_geneve": {"vni_ranges": "1:1000", "max_header_size": 38},
            "ovn": {
                "ovn_nb_connection": remote,
                "ovn_sb_connection": remote,
                # libvirt makes the taps: os-vif looks for one in the network
                # of nova-compute, which is not that of the taps, and would
                # make it again at each start, and never remove it.
                "ovs_create_tap": False,
            },
            "ovs": {"ovsdb_connection": f"unix:{OVSDB_SOCKET}"},
        },
    )
