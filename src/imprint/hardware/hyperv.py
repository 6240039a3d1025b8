"""Hyper-V enlightenments: what makes Windows fast and punctual under KVM.

QEMU without KVM does not start a guest with them ("kernel doesn't allow
setting HyperV VP_INDEX"), and neither with one that lacks another.
"""

from collections.abc import Collection, Sequence

from imprint.hardware.choices import Choice, Timer
from imprint.hardware.facts import HostFacts
from imprint.hardware.limits import X86
from imprint.hardware.rule import Rule

_OFF = "off"

#: docs/system/i386/hyperv.rst of QEMU
_NEEDS = {
    "evmcs": ("vapic",),
    "ipi": ("vpindex",),
    "stimer": ("hypervclock", "synic", "vpindex"),
    "synic": ("vpindex",),
    "tlbflush": ("vpindex",),
}


def choose(
    holding: Sequence[Rule],
    host: HostFacts,
    timers: Sequence[Timer],
    notes: list[str],
) -> dict[str, Choice]:
    """Choose those that are wanted and possible, by name.

    :param holding: the rules that hold, the first to speak first
    :param timers: those of the guest, as one enlightenment needs a timer
    :param notes: what the host cannot do is added to them
    """
    wanted: dict[str, Choice] = {}
    for rule in holding:
        for name, value in rule.hyperv.items():
            wanted.setdefault(name, Choice(value=value, reason=rule.reason))
    chosen = {
        name: choice
        for name, choice in sorted(wanted.items())
        if choice.value != _OFF
    }
    if not chosen:
        return {}
    if refusal := _refuse_all(host):
        notes.append(f"Hyper-V enlightenments are not possible: {refusal}")
        return {}
    clocks = {timer.name for timer in timers if timer.present}
    # one that goes may take away what another needs
    while refused := _refuse(chosen.keys(), clocks, host):
        for name, refusal in refused.items():
            notes.append(f"Hyper-V {name} is not possible: {refusal}")
            del chosen[name]
    return chosen


def _refuse_all(host: HostFacts) -> str | None:
    if host.arch not in X86:
        return f"{host.arch} has none"
    if host.virt_type != "kvm":
        return "only KVM has them"
    return None


def _refuse(
    names: Collection[str], clocks: Collection[str], host: HostFacts
) -> dict[str, str]:
    """Say which of them the host cannot do now, each with the reason."""
    refused = {}
    for name in names:
        missing = [
            needed
            for needed in _NEEDS.get(name, ())
            if needed not in names and needed not in clocks
        ]
        if host.hyperv is not None and name not in host.hyperv:
            refused[name] = "the host does not have it"
        elif missing:
            refused[name] = f"it needs {' and '.join(missing)}"
    return refused
