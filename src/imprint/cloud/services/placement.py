"""Placement: which host has what left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imprint.cloud import ini
from imprint.cloud.model import Service, Step
from imprint.cloud.paths import INSIDE
from imprint.cloud.services.shared import (
    ENVIRONMENT,
    answers,
    build_authtoken,
    build_database,
    build_wsgi_command,
)

if TYPE_CHECKING:
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings

ETC = INSIDE.etc / "placement"
CONFIG = ETC / "placement.conf"


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration step and the API."""
    return (
        Step(name="placement-conf", run=lambda: _write(settings)),
        Service(
            name="placement",
            needs=("schema",),
            command=build_wsgi_command(
                "placement.wsgi.api", settings.ports["placement"]
            ),
            environment={**ENVIRONMENT, "OS_PLACEMENT_CONFIG_DIR": str(ETC)},
            ready=answers(settings.url("placement")),
        ),
    )


def _write(settings: Settings) -> None:
    ini.write(
        CONFIG,
        {
            "placement_database": build_database("placement"),
            "api": {"auth_strategy": "keystone"},
            **build_authtoken(settings, "placement"),
        },
    )
