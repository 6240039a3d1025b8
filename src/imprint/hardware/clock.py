"""The clock of a guest: its offset and its timers."""

from collections.abc import Mapping, Sequence
from typing import Any

from imprint.hardware.choices import Choice, Timer
from imprint.hardware.facts import HostFacts
from imprint.hardware.limits import X86
from imprint.hardware.rule import Rule

#: timers that are devices of a PC
_PC_TIMERS = frozenset(("hpet", "pit", "rtc"))
#: clocks that KVM gives; plain emulation offers neither
_KVM_TIMERS = frozenset(("hypervclock", "kvmclock"))


def choose_offset(holding: Sequence[Rule]) -> Choice:
    """Choose between UTC and local time.

    :param holding: the rules that hold, the first to speak first
    """
    for rule in holding:
        if rule.clock_offset is not None:
            return Choice(value=rule.clock_offset, reason=rule.reason)
    return Choice(value="utc", reason="no rule: Nova's default")


def choose_timers(
    holding: Sequence[Rule], host: HostFacts, notes: list[str]
) -> tuple[Timer, ...]:
    """Choose the timers, in the order of their names.

    :param notes: what the host cannot do is added to them
    """
    wanted: dict[str, tuple[Mapping[str, Any] | None, str]] = {}
    for rule in holding:
        for name, settings in rule.timers.items():
            wanted.setdefault(name, (settings, rule.reason))
    timers = []
    for name, (settings, reason) in sorted(wanted.items()):
        if settings is None:
            continue
        if refusal := _refuse(name, host):
            notes.append(f"timer {name} is not possible: {refusal}")
            continue
        timers.append(
            Timer(
                name=name,
                tickpolicy=settings.get("tickpolicy"),
                present=settings.get("present"),
                reason=reason,
            )
        )
    return tuple(timers)


def _refuse(name: str, host: HostFacts) -> str | None:
    if host.arch not in X86 and name in _PC_TIMERS | _KVM_TIMERS:
        return f"{host.arch} has no such timer"
    if host.virt_type != "kvm" and name in _KVM_TIMERS:
        return "only KVM has it"
    return None
