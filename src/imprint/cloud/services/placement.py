"""Placement: which host has what left; one for each Nova."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imprint.cloud import ini, installations
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
    from pathlib import Path

    from imprint.cloud.installations import Installation
    from imprint.cloud.model import Node
    from imprint.cloud.settings import Settings


def build(settings: Settings) -> tuple[Node, ...]:
    """Build the configuration steps and the APIs."""
    return tuple(
        node
        for installation in installations.choose(settings.novas)
        for node in _build(installation, settings)
    )


def _build(installation: Installation, settings: Settings) -> tuple[Node, ...]:
    name = installation.placement
    return (
        Step(name=f"{name}-conf", run=lambda: _write(installation, settings)),
        Service(
            name=name,
            needs=(f"schema{installation.suffix}",),
            command=build_wsgi_command(
                "placement.wsgi.api", settings.ports[name]
            ),
            environment={
                **ENVIRONMENT,
                "OS_PLACEMENT_CONFIG_DIR": str(
                    name_config(installation).parent
                ),
            },
            ready=answers(settings.url(name)),
        ),
    )


def name_config(installation: Installation) -> Path:
    """Name the file that a Nova's Placement reads."""
    return INSIDE.etc / installation.placement / "placement.conf"


def _write(installation: Installation, settings: Settings) -> None:
    ini.write(
        name_config(installation),
        {
            "placement_database": build_database(installation.placement),
            "api": {"auth_strategy": "keystone"},
            **build_authtoken(settings, "placement"),
        },
    )
