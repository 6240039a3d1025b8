"""Print what libosinfo itself makes of the database, as JSON.

For Debian's own Python, which has GObject introspection (python3-gi and
gir1.2-libosinfo-1.0), so only its standard library and gi are used. The
environment says where the database is: OSINFO_SYSTEM_DIR and the others.
"""

import json
import sys

import gi

gi.require_version("Libosinfo", "1.0")
from gi.repository import Libosinfo  # noqa: E402


def elements(listed):
    return [listed.get_nth(i) for i in range(listed.get_length())]


def resources(listed):
    return [
        {
            "arch": each.get_architecture(),
            "cpus": each.get_n_cpus(),
            "ram": each.get_ram(),
            "storage": each.get_storage(),
        }
        for each in elements(listed)
    ]


def firmware(listed):
    return [
        [
            each.get_architecture(),
            each.get_firmware_type(),
            each.is_supported(),
        ]
        for each in elements(listed)
    ]


def driver(each):
    return {
        "arch": each.get_architecture(),
        "location": each.get_location(),
        "pre_installable": each.get_pre_installable(),
        "signed": each.get_signed(),
        "devices": [
            device.get_id() for device in elements(each.get_devices())
        ],
    }


def system(os):
    return {
        "id": os.get_id(),
        "short_ids": os.get_param_value_list("short-id"),
        "name": os.get_name(),
        "family": os.get_family(),
        "distro": os.get_distro(),
        "version": os.get_version(),
        "release_date": os.get_param_value("release-date"),
        "own_devices": [each.get_id() for each in elements(os.get_devices())],
        "devices": [
            [each.get_id(), each.get_name()]
            for each in elements(os.get_all_devices())
        ],
        "supported_firmware": firmware(os.get_firmware_list()),
        "firmware": firmware(os.get_complete_firmware_list()),
        "minimum": resources(os.get_minimum_resources()),
        "recommended": resources(os.get_recommended_resources()),
        "drivers": [
            driver(each) for each in elements(os.get_device_drivers())
        ],
    }


def main():
    loader = Libosinfo.Loader()
    loader.process_default_path()
    systems = elements(loader.get_db().get_os_list())
    json.dump([system(os) for os in systems], sys.stdout)


if __name__ == "__main__":
    main()
