"""Decides a server's hardware from its operating system, on its host.

Brings together what only a compute host knows: the libosinfo database and the
rules that are installed on it, and what its libvirt can do.  What was decided
is in the server's record from then on, :mod:`imprint.nova.hardware_record`.

Nothing here saves an instance: while a server is built, its networks are
allocated in the background and a save would overwrite what comes of that.
Nova's manager saves the server after each of the driver's operations.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from nova import exception, utils
from nova.compute import vm_states
from nova.conf import CONF
from nova.virt.libvirt import utils as libvirt_utils
from oslo_log import log as logging

from imprint import exceptions
from imprint.hardware import rules
from imprint.nova import hardware_record, hardware_sources, host_facts
from imprint.properties.names import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nova import objects
    from nova.virt.libvirt import host as libvirt_host

    from imprint.hardware.choices import Choices
    from imprint.hardware.facts import HostFacts
    from imprint.osinfo.database import Match

LOG = logging.getLogger(__name__)

#: what os_type says of the family, as libosinfo names it
_FAMILIES = {"windows": "winnt", "linux": "linux"}


class Hardware:
    """The hardware of the servers on one host."""

    def __init__(self, host: libvirt_host.Host) -> None:
        self._facts = host_facts.Reader(host)
        self._database = hardware_sources.open_database(CONF)
        self._rules = rules.Rules()

    def start(self) -> None:
        """Read the rules and look for the database.

        :raises InvalidConfiguration: a rule file with an error, or no
            database where the operator wants it always
        """
        if not _is_asked():
            return
        try:
            self._rules = hardware_sources.load_rules(CONF)
        except exceptions.InvalidRuleError as exc:
            raise exception.InvalidConfiguration(str(exc)) from exc
        # the database says in the log that it is not there
        if not self._database.exists() and _is_strict():
            raise exception.InvalidConfiguration(
                f"{hardware_sources.NO_DATABASE}, and [libvirt] "
                f"hardware_config = libosinfo needs it"
            )

    def decide(self, instance: objects.Instance) -> None:
        """Decide anew for a server and write it down.

        Nothing may be left of a decision of another host, for another machine
        type: a build that failed there comes here with what it wrote.

        :raises InstanceUnacceptable: in strict mode, an os_name that nothing
            is known of
        """
        kept = instance.system_metadata
        _withdraw(instance)
        name = read_os_name(instance)
        match = self._find(instance, name) if name and _is_asked() else None
        if name is None or match is None:
            hardware_record.clear(kept)
        else:
            record = self._build_record(instance, name, match)
            hardware_record.write(kept, record)
            _apply(instance, record)

    def settle(self, instance: objects.Instance) -> None:
        """Give a server's next guest what was decided for it.

        Decides only where that is due: for a rebuild, or where os_name
        changed.  Otherwise the record counts, whatever the database and the
        configuration are by now.

        :raises InstanceUnacceptable: as :meth:`decide`
        """
        kept = instance.system_metadata
        record = hardware_record.read(kept)
        if hardware_record.is_due(kept):
            self.decide(instance)
        elif record is None:
            return
        elif record.name != read_os_name(instance):
            # rebuilt by a nova-api without Imprint
            self.decide(instance)
        elif not hardware_record.is_applied(kept):
            _apply(instance, record)
            _keep_chipset(instance, record)

    def _find(self, instance: objects.Instance, name: str) -> Match | None:
        """Find the operating system of a server; None: not known."""
        if not self._database.exists():
            if _is_strict():
                _refuse(instance, "this host has no libosinfo database")
            return None
        declared = hardware_record.read_declared(instance.system_metadata)
        match = self._database.resolve(
            name,
            distro=declared.get("os_distro"),
            version=declared.get("os_version"),
            family=_FAMILIES.get(declared.get("os_type", "")),
        )
        if _is_strict() and (match is None or match.how == "family"):
            _refuse(
                instance,
                f"os_name {show(name)} is no operating system that the "
                f"libosinfo database knows",
            )
        if match is None:
            LOG.warning(
                "os_name %s is no operating system that the libosinfo "
                "database knows: the server gets Nova's defaults",
                show(name),
                instance=instance,
            )
        return match

    def _build_record(
        self, instance: objects.Instance, name: str, match: Match
    ) -> hardware_record.Record:
        kept = instance.system_metadata
        declared = hardware_record.read_declared(kept)
        host = self._facts.read(instance.image_meta)
        choices = rules.decide(match.facts, host, declared, self._rules)
        _log(instance, name, match, choices)
        inputs = hardware_record.read_due_inputs(kept)
        if inputs is None:
            inputs = hardware_record.build_inputs(declared)
        return hardware_record.Record(
            name=name,
            inputs=inputs,
            machine_type=_find_machine_type(choices, declared, host),
            choices=choices,
        )


def _is_asked() -> bool:
    """Tell whether the database is asked for new servers at all."""
    return (
        CONF.libvirt.hardware_config != "fixed"
        # the rules know no other
        and CONF.libvirt.virt_type in ("kvm", "qemu")
    )


def _is_strict() -> bool:
    return CONF.libvirt.hardware_config == "libosinfo"


def _refuse(instance: objects.Instance, reason: str) -> None:
    raise exception.InstanceUnacceptable(
        instance_id=instance.uuid, reason=reason
    )


def _find_machine_type(
    choices: Choices, declared: Mapping[str, Any], host: HostFacts
) -> str:
    chosen = rules.select(choices, declared).get("hw_machine_type")
    return chosen.value if chosen else host.machine_type


@contextlib.contextmanager
def leaving_nothing(instance: objects.Instance) -> Iterator[None]:
    """Take away what Nova registers with a new server whose build fails.

    The next host would take it for declared.  It may have another default
    machine type, and decides for a guest of its own.
    """
    kept = instance.system_metadata
    before = frozenset(kept)
    try:
        yield
    except Exception:
        if instance.vm_state == vm_states.BUILDING:
            for key in kept.keys() - before:
                if key.startswith(utils.SM_IMAGE_PROP_PREFIX):
                    del kept[key]
        raise


def read_os_name(instance: objects.Instance) -> str | None:
    """Read the operating system that a server's image or override names."""
    return instance.system_metadata.get(
        utils.SM_IMAGE_PROP_PREFIX + hardware_record.OS_NAME
    )


def _keep_chipset(
    instance: objects.Instance, record: hardware_record.Record
) -> None:
    """Register the machine type of a rebuilt server where it matters.

    Nova forgets it with a rebuild.  The host's default may have become
    another chipset since, which has other buses than the record says.
    """
    machine_type = libvirt_utils.get_machine_type(instance.image_meta) or ""
    if ("q35" in machine_type) != ("q35" in record.machine_type):
        instance.system_metadata[
            utils.SM_IMAGE_PROP_PREFIX + "hw_machine_type"
        ] = record.machine_type


def _withdraw(instance: objects.Instance) -> None:
    kept = instance.system_metadata
    if "os_type" in hardware_record.list_applied(kept):
        instance.os_type = None
    hardware_record.withdraw(kept)


def _apply(instance: objects.Instance, record: hardware_record.Record) -> None:
    """Put the record into the server's copy of its image.

    Nova has a column for os_type, and reads it there.
    """
    kept = instance.system_metadata
    hardware_record.apply(kept, record, hardware_record.read_declared(kept))
    applied = hardware_record.read_applied(kept)
    if "os_type" in applied:
        instance.os_type = applied["os_type"]


def _log(
    instance: objects.Instance, name: str, match: Match, choices: Choices
) -> None:
    declared = hardware_record.read_declared(instance.system_metadata)
    chosen = rules.select(choices, declared)
    LOG.info(
        "Hardware for os_name %(name)s (%(reason)s): %(chosen)s; clock "
        "%(clock)s (%(why)s) with %(timers)s; Hyper-V: %(hyperv)s",
        {
            "name": show(name),
            "reason": match.reason,
            "chosen": ", ".join(
                f"{key}={choice.value} ({choice.reason})"
                for key, choice in chosen.items()
            ),
            "clock": choices.clock_offset.value,
            "why": choices.clock_offset.reason,
            "timers": ", ".join(timer.name for timer in choices.timers)
            or "no timers",
            "hyperv": ", ".join(choices.hyperv) or "none",
        },
        instance=instance,
    )
    for note in choices.notes:
        LOG.info("Hardware: %s", note, instance=instance)
