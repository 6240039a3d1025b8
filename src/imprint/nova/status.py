"""``imprint-status upgrade check``: whether this host may run Imprint.

Like ``nova-status``: run with the new code installed, before the services are
restarted.  It reads nova.conf and the files that this names, changes nothing
and asks no service and no database.  Exit codes are those of
``nova-status``: 0 all is well, 1 a warning, 2 a failure, 255 an error.
"""

import importlib
import importlib.metadata
import pathlib
import sys

import nova.conf
from keystoneauth1 import exceptions as auth_exceptions
from keystoneauth1 import loading
from nova import config as nova_config
from nova import version as nova_version
from nova.virt import driver as virt_driver
from oslo_config import cfg
from oslo_log import log as logging
from oslo_upgradecheck import upgradecheck
from oslo_upgradecheck.upgradecheck import Code, Result

from imprint import conf as imprint_conf
from imprint import exceptions
from imprint.nova import (
    gates,
    hardware_sources,
    image_properties,
    paste,
    policies,
    property_protections,
)
from imprint.properties import overrides, protections

CONF = nova.conf.CONF

DISTRIBUTION = "openstack-imprint"
#: The releases of Nova whose seams the contract tests hold.
NOVA_RELEASES = frozenset({34})

#: Nova's default
_PASTE = "api-paste.ini"

DRIVER = "imprint.LibvirtDriver"
#: Drivers of Nova, with what becomes of overrides there.
OTHER_DRIVERS = {
    "libvirt.LibvirtDriver": (
        "guests get their overrides from Nova's own record, but a rebuild or "
        f"a rescue loses them: set compute_driver = {DRIVER}"
    ),
    "vmwareapi.VMwareVCDriver": "not tested with Imprint",
    "zvm.ZVMDriver": "not tested with Imprint",
    "ironic.IronicDriver": "a bare-metal server has few of these properties",
    "fake.FakeDriver": "for tests only",
}


class Checks(upgradecheck.UpgradeCommands):
    """The checks; each tells what is wrong and what to do."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self._conf = conf

    def _check_paste(self) -> Result:
        name = self._conf.wsgi.api_paste_config
        found = self._conf.find_file(name)
        if found is None and name == _PASTE and self._conf.compute_driver:
            return Result(
                Code.SUCCESS,
                f"There is no {name}: a host of nova-compute needs none.",
            )
        try:
            text = pathlib.Path(found or name).read_text()
        except (OSError, ValueError) as exc:
            return Result(
                Code.FAILURE,
                f"[wsgi] api_paste_config = {name} cannot be read: {exc}. "
                f"nova-api serves no overrides without it.",
            )
        if faults := list(paste.find_faults(text)):
            return Result(
                Code.FAILURE,
                f"{found or name}: {'; '.join(faults)}. Edit it and restart "
                f"nova-api.",
            )
        return Result(Code.SUCCESS)

    def _check_service_user(self) -> Result:
        options = self._conf.service_user
        if not options.send_service_user_token:
            return Result(
                Code.FAILURE,
                "[service_user] send_service_user_token is false: set it to "
                "true, Nova needs it as well.",
            )
        try:
            plugin = loading.load_auth_from_conf_options(
                self._conf, "service_user"
            )
        except (
            auth_exceptions.NoMatchingPlugin,
            auth_exceptions.MissingRequiredOptions,
        ) as exc:
            # its text has names of options and no values
            return Result(Code.FAILURE, f"[service_user]: {exc}")
        if plugin is None:
            return Result(
                Code.FAILURE,
                "[service_user] has no auth_type: name the user that Nova "
                "sends tokens of, with auth_url, username and password.",
            )
        return Result(Code.SUCCESS)

    def _check_driver(self) -> Result:
        try:
            module = importlib.import_module("nova.virt.imprint")
            known = issubclass(module.LibvirtDriver, virt_driver.ComputeDriver)
        except (ImportError, AttributeError) as exc:
            return Result(
                Code.FAILURE,
                f"This Nova cannot import nova.virt.imprint: {exc}. Install "
                f"{DISTRIBUTION} into the environment of Nova, and not as "
                f"editable.",
            )
        if not known:
            return Result(
                Code.FAILURE,
                "nova.virt.imprint.LibvirtDriver is no driver of this Nova: "
                f"install the {DISTRIBUTION} that fits.",
            )
        configured = self._conf.compute_driver
        if configured is None:
            return Result(
                Code.SUCCESS,
                "No compute_driver is set here. Run this on each compute "
                "host too.",
            )
        if configured == DRIVER:
            return Result(Code.SUCCESS)
        if configured in OTHER_DRIVERS:
            return Result(
                Code.WARNING,
                f"compute_driver = {configured}: {OTHER_DRIVERS[configured]}.",
            )
        return Result(
            Code.FAILURE,
            f"compute_driver = {configured} is no driver that Imprint knows: "
            f"set compute_driver = {DRIVER}.",
        )

    def _check_versions(self) -> Result:
        try:
            ours = importlib.metadata.version(DISTRIBUTION)
        except importlib.metadata.PackageNotFoundError:
            return Result(
                Code.FAILURE,
                f"{DISTRIBUTION} is not installed, its code is found by "
                f"PYTHONPATH only: install it into the environment of Nova.",
            )
        novas = nova_version.version_string()
        if int(novas.partition(".")[0]) not in NOVA_RELEASES:
            known = ", ".join(map(str, sorted(NOVA_RELEASES)))
            return Result(
                Code.FAILURE,
                f"Imprint {ours} is for Nova {known} and this is {novas}: "
                f"install the Imprint of that release.",
            )
        return Result(Code.SUCCESS, f"Imprint {ours}, Nova {novas}")

    def _check_property_protections(self) -> Result:
        if not self._conf.image_props_override.property_protection_file:
            return Result(
                Code.SUCCESS,
                "No property_protection_file is set. If Glance has one, name "
                "it, or tenants get round it.",
            )
        try:
            with property_protections.open_file(self._conf) as opened:
                read = property_protections.read_file(opened, self._conf)
        except (OSError, protections.ProtectionFileError) as exc:
            return Result(
                Code.FAILURE,
                f"property_protection_file cannot be used: {exc}. Every "
                f"override is refused until it can.",
            )
        if unknown := _find_unknown_rules(read, self._conf):
            return Result(
                Code.FAILURE,
                f"property_protection_file names policy rules that are not "
                f"in Nova's policy file: {', '.join(unknown)}. Nobody "
                f"satisfies them; define them there.",
            )
        return Result(Code.SUCCESS)

    def _check_denied(self) -> Result:
        permissions = gates.find_permissions(self._conf)
        open_again = [
            pattern
            for pattern in imprint_conf.DENIED
            if pattern not in permissions.denied
            and any(
                overrides.is_permitted(name, permissions)
                for name in _list_examples(pattern)
            )
        ]
        if open_again:
            return Result(
                Code.WARNING,
                f"[image_props_override] denied replaces the default list "
                f"and lets users override {', '.join(open_again)}, which the "
                f"default keeps from them. Add them, or make sure that this "
                f"is meant.",
            )
        return Result(Code.SUCCESS)

    def _check_hardware(self) -> Result:
        mode = self._conf.libvirt.hardware_config
        if self._conf.compute_driver != DRIVER or mode == "fixed":
            return Result(
                Code.SUCCESS,
                "This host chooses no hardware by the operating system.",
            )
        try:
            hardware_sources.load_rules(self._conf)
        except exceptions.InvalidRuleError as exc:
            return Result(
                Code.WARNING,
                f"[imprint] hardware_dir: {exc}. nova-compute does not start "
                f"until this is mended.",
            )
        if hardware_sources.open_database(self._conf).exists():
            return Result(Code.SUCCESS)
        consequence = (
            "nova-compute does not start"
            if mode == "libosinfo"
            else "servers with os_name get Nova's defaults"
        )
        return Result(
            Code.WARNING,
            f"[libvirt] hardware_config = {mode}, but "
            f"{hardware_sources.NO_DATABASE}: {consequence}.",
        )

    _upgrade_checks = (
        ("Paste pipelines", _check_paste),
        ("Service user token", _check_service_user),
        ("Compute driver", _check_driver),
        ("Versions", _check_versions),
        ("Property protections", _check_property_protections),
        ("Denied properties", _check_denied),
        ("Hardware", _check_hardware),
    )


def _find_unknown_rules(
    read: protections.Protections, conf: cfg.ConfigOpts
) -> list[str]:
    if read.rule_format is protections.RuleFormat.ROLES:
        return []
    enforcer = policies.build_enforcer(conf)
    return sorted(read.list_named() - enforcer.rules.keys())


def _list_examples(pattern: str) -> list[str]:
    """List properties that a pattern of the default list is about."""
    vocabulary = image_properties.vocabulary()
    examples = [
        name
        for name in (*vocabulary.fields, *vocabulary.inexpressible)
        if overrides.matches(name, (pattern,))
    ]
    return examples or [pattern.replace("*", "CUSTOM_A")]


def main() -> int:
    """Run the command, with the options and the files of Nova's own."""
    logging.register_options(CONF)
    nova_config.set_lib_defaults()
    imprint_conf.register_opts(CONF)
    return upgradecheck.main(
        CONF, project="nova", upgrade_command=Checks(CONF), argv=sys.argv[1:]
    )
