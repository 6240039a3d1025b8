"""The gates that overrides pass, as nova.conf sets them.

One place for whatever takes overrides: create, rebuild, change later and
preview.  Who calls is the business of :mod:`imprint.nova.policies`, which is
asked before; what Nova thinks of the result comes after.
"""

import types
from collections.abc import Mapping
from typing import Any

from nova.conf import CONF
from oslo_config import cfg

from imprint.nova import errors, image_properties, scheduler_hints
from imprint.properties import overrides


def find_permissions(conf: cfg.ConfigOpts = CONF) -> overrides.Permissions:
    """Find out what the operator allows, at this moment."""
    options = conf.image_props_override
    return overrides.Permissions(
        enabled=options.enabled,
        allowed=tuple(options.allowed),
        denied=tuple(options.denied),
        max_overrides=options.max_overrides,
    )


def check_asked(asked: scheduler_hints.Asked) -> dict[str, str]:
    """Return the overrides of a create request, in any spelling.

    :raises InvalidImagePropertyOverride: 400
    :raises ForbiddenImagePropertyOverride: 403
    """
    return check(*read(asked))


def read(asked: scheduler_hints.Asked) -> tuple[Any, overrides.Spelling]:
    """Return what a create request asks for, unchecked, and its spelling.

    :raises InvalidImagePropertyOverride: 400
    :raises ForbiddenImagePropertyOverride: 403
    """
    with errors.translated():
        overrides.check_enabled(find_permissions())
        asked.check_hints(
            accepted=CONF.image_props_override.accept_scheduler_hints
        )
        return asked.read()


def check(
    value: Any,
    spelling: overrides.Spelling = overrides.NATIVE,
    kept: Mapping[str, str] = types.MappingProxyType({}),
) -> dict[str, str]:
    """Return the overrides in ``value``, any value that JSON can hold.

    ``kept`` are those that the server has already.

    :raises InvalidImagePropertyOverride: 400
    :raises ForbiddenImagePropertyOverride: 403
    """
    with errors.translated():
        return overrides.parse(
            value,
            permissions=find_permissions(),
            vocabulary=image_properties.vocabulary(),
            spelling=spelling,
            kept=kept,
        )
