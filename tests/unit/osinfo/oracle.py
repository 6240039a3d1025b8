"""Compare our reading of a libosinfo database with libosinfo's own.

libosinfo answers through GObject introspection in a process of Debian's
Python, see libosinfo_dump.py; what it says is compared field by field.
"""

import json
import os
import pathlib
import subprocess

from imprint.osinfo import model

SCRIPT = pathlib.Path(__file__).with_name("libosinfo_dump.py")
PYTHON = "/usr/bin/python3"  # Debian's, which alone sees Debian's gi

NOT_SAID = -1  # libosinfo's number for it


def environment(directories):
    """Return what makes libosinfo read up to three ``directories``."""
    names = ("OSINFO_SYSTEM_DIR", "OSINFO_LOCAL_DIR", "OSINFO_USER_DIR")
    given = dict(zip(names, map(str, directories), strict=False))
    nowhere = dict.fromkeys(names, "/nonexistent")
    return {"LC_ALL": "C", **nowhere, **given}


def ask_libosinfo(directories):
    """Return what libosinfo says of each system, by its URI."""
    ran = subprocess.run(
        [PYTHON, "-W", "ignore", str(SCRIPT)],
        env={"PATH": os.defpath, **environment(directories)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, (
        f"libosinfo does not answer (tools/host-packages installs it):\n"
        f"{ran.stderr}"
    )
    return load(ran.stdout)


def load(text):
    return {each["id"]: each for each in json.loads(text)}


def theirs(system):
    """Return what libosinfo says of a system, in the form of ours().

    A short id that several files of a system repeat counts once, a firmware
    that a system both supports and does not support is not supported (as
    libosinfo has it in its list of the supported), and drivers have no order.
    """

    def numbers(asked):
        found = (
            (
                each["arch"],
                *(
                    None if each[name] == NOT_SAID else each[name]
                    for name in ("cpus", "ram", "storage")
                ),
            )
            for each in asked
        )
        return sorted(found, key=repr)

    def agreed(firmware):
        said = {}
        for arch, kind, supported in firmware:
            said.setdefault((arch, kind), []).append(supported)
        return sorted((*which, all(values)) for which, values in said.items())

    single = ("name", "family", "distro", "version", "release_date")
    return {
        **{name: system[name] for name in single},
        "short_ids": list(dict.fromkeys(system["short_ids"])),
        "own_devices": sorted(system["own_devices"]),
        "devices": sorted(name or uri for uri, name in system["devices"]),
        "supported_firmware": sorted(
            set(map(tuple, system["supported_firmware"]))
        ),
        "firmware": agreed(system["firmware"]),
        "minimum": numbers(system["minimum"]),
        "recommended": numbers(system["recommended"]),
        "drivers": sorted(
            json.dumps({**each, "devices": sorted(each["devices"])})
            for each in system["drivers"]
        ),
    }


def ours(database, uri):
    """Return what our reader says of a system."""
    facts = database.find(uri)
    own = database.find_entry(uri)
    single = ("name", "family", "distro", "version", "release_date")

    def rows(asked):
        found = ((r.arch, r.cpus, r.ram, r.storage) for r in asked)
        return sorted(found, key=repr)

    def booting(firmware):
        return sorted((f.arch, f.kind, f.supported) for f in firmware)

    return {
        **{name: getattr(facts, name) for name in single},
        "short_ids": list(facts.short_ids),
        "own_devices": sorted(uri for uri, yes in own.devices.items() if yes),
        "devices": sorted(facts.devices),
        "supported_firmware": booting(
            f for f in facts.firmware if f.supported
        ),
        "firmware": booting(facts.firmware),
        "minimum": rows(facts.minimum),
        "recommended": rows(facts.recommended),
        "drivers": sorted(
            json.dumps(_driver(each)) for each in own.drivers.values()
        ),
    }


def _driver(driver: model.Driver):
    return {
        "arch": driver.arch,
        "location": driver.location,
        "pre_installable": driver.pre_installable,
        "signed": driver.signed,
        "devices": list(driver.devices),
    }


def differences(database, answers):
    """Return where ``database`` and libosinfo's ``answers`` differ."""
    found = [
        f"{uri}: only libosinfo has it"
        for uri in sorted(answers)
        if database.find(uri) is None
    ]
    for facts in database.list_all():
        if facts.id not in answers:
            found.append(f"{facts.id}: libosinfo does not have it")
            continue
        mine, other = ours(database, facts.id), theirs(answers[facts.id])
        found += [
            f"{facts.id} {field}: {mine[field]!r} here, {value!r} there"
            for field, value in other.items()
            if mine[field] != value
        ]
        by_short_id = [database.find(each) for each in facts.short_ids]
        if None in by_short_id:
            found.append(f"{facts.id}: a short id finds nothing")
    return found
