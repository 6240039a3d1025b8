"""Glance's property protections, asked for the caller of a request.

``property_protection_file`` is read again when it changes, without a restart.
On any doubt the answer is no.  What is wrong with the file is in the log,
once, and not in the answer, which a tenant sees.
"""

import errno
import io
import os
import pathlib
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any

from nova import context as nova_context
from oslo_config import cfg
from oslo_log import log as logging
from oslo_policy import policy

from imprint import exceptions
from imprint.properties import protections

LOG = logging.getLogger(__name__)

# A file that is written again within this time may look the same: its times
# are as fine as the kernel's clock ticks, on some file systems whole seconds.
_SETTLED_SECONDS = 2.0


class PropertyProtections:
    """The protections that one nova.conf names; threads share it."""

    def __init__(
        self, conf: cfg.ConfigOpts, enforcer: policy.Enforcer
    ) -> None:
        self._conf = conf
        self._enforcer = enforcer
        self._lock = threading.Lock()
        self._loaded: protections.Protections | None = None
        self._stamp: tuple[Any, ...] | None = None
        self._settled = False
        self._reported: set[str] = set()

    @property
    def enabled(self) -> bool:
        """Whether there are protections at all."""
        return bool(self._conf.image_props_override.property_protection_file)

    def check(
        self,
        context: nova_context.RequestContext,
        said: Mapping[str, Any],
        merged: Mapping[str, Any],
        replaced: Collection[str],
    ) -> None:
        """Accept what merging overrides does to the properties of an image.

        See :func:`imprint.properties.protections.find_needed`.

        :raises ForbiddenOverrideError: the caller may not do that to one of
            them, or nobody can tell
        """
        refusals = self.find_refusals(context, said, merged, replaced)
        for text in refusals.values():
            raise exceptions.ForbiddenOverrideError(text)

    def find_refusals(
        self,
        context: nova_context.RequestContext,
        said: Mapping[str, Any],
        merged: Mapping[str, Any],
        replaced: Collection[str],
    ) -> dict[str, str]:
        """Return the properties that :meth:`check` refuses, each with why."""
        needed = protections.find_needed(said, merged, replaced)
        if not needed or not self.enabled:
            return {}
        loaded = self._load()
        if loaded is None:
            return {
                name: f"The image property {name} may not be overridden: the "
                f"property protections here cannot be read"
                for name in needed
            }
        roles = frozenset(map(str.lower, context.roles))

        def is_held(holder: str) -> bool:
            if loaded.rule_format is protections.RuleFormat.ROLES:
                return holder in roles
            return self._satisfies(context, holder)

        refusals = {}
        for name, operations in needed.items():
            for operation in operations:
                if not loaded.is_permitted(name, operation, is_held):
                    refusals[name] = (
                        f"The image property {name} may not be overridden: "
                        f"its property protection does not let you "
                        f"{operation.value} it"
                    )
                    break
        return refusals

    def _load(self) -> protections.Protections | None:
        """Return what the file says now; None: nobody can tell."""
        with self._lock:
            try:
                with open_file(self._conf) as opened:
                    stamp = _build_stamp(opened, self._conf)
                    if stamp != self._stamp:
                        self._reported.clear()
                    if stamp != self._stamp or not self._settled:
                        self._stamp, self._settled = stamp, False
                        self._loaded = read_file(opened, self._conf)
                        self._settled = _is_settled(opened)
            except (OSError, protections.ProtectionFileError) as exc:
                self._loaded, self._settled = None, False
                self._report(
                    "No image property is overridden: the property "
                    f"protection file cannot be used: {exc}"
                )
            return self._loaded

    def _satisfies(
        self, context: nova_context.RequestContext, rule: str
    ) -> bool:
        self._enforcer.load_rules()
        if rule not in self._enforcer.rules:
            with self._lock:
                self._report(
                    f"The property protection file names the policy rule "
                    f"{rule}, which the policy file does not have: nobody "
                    f"satisfies it"
                )
            return False
        try:
            # Glance gives no target either: a rule may ask for roles, not
            # for whose image it is
            return bool(self._enforcer.enforce(rule, {}, context))
        except policy.InvalidScope:
            return False

    def _report(self, text: str) -> None:
        if text not in self._reported:
            self._reported.add(text)
            LOG.error(text)


def open_file(conf: cfg.ConfigOpts) -> io.BufferedReader:
    """Open the file that nova.conf names, found as Glance finds its own.

    :raises OSError: it is not there, or cannot be opened
    """
    name = conf.image_props_override.property_protection_file
    found = conf.find_file(name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return pathlib.Path(found).open("rb")


def read_file(
    opened: io.BufferedReader, conf: cfg.ConfigOpts
) -> protections.Protections:
    """Read a file's protections.

    :raises ProtectionFileError: Glance would not start with it
    """
    rule_format = conf.image_props_override.property_protection_rule_format
    try:
        text = opened.read().decode()
    except UnicodeDecodeError as exc:
        raise protections.ProtectionFileError("not in UTF-8") from exc
    return protections.parse(text, protections.RuleFormat(rule_format))


def _build_stamp(
    opened: io.BufferedReader, conf: cfg.ConfigOpts
) -> tuple[Any, ...]:
    """Build what changes when the file or its meaning does."""
    found = os.fstat(opened.fileno())
    return (
        conf.image_props_override.property_protection_rule_format,
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


def _is_settled(opened: io.BufferedReader) -> bool:
    found = os.fstat(opened.fileno())
    age = time.time() - max(found.st_mtime, found.st_ctime)
    return age > _SETTLED_SECONDS
