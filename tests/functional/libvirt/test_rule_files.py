"""A host does not start with an operator's rules that have an error."""

import pathlib

from nova import exception
from tests.functional.libvirt import hardware_case

RULE = """
[[rule]]
name = "ours"
match.family = "linux"
properties.{name} = "{value}"
"""


class RuleFileTest(hardware_case.HardwareCase):
    def refusal(self, name, value):
        """Return what a host says that is started with this rule."""
        self.path = pathlib.Path(self.rules, "site.toml")
        self.path.write_text(RULE.format(name=name, value=value))
        refused = self.assertRaises(
            exception.InvalidConfiguration, self.start_host
        )
        return str(refused)

    def test_a_mistake_is_told_with_file_rule_and_reason(self):
        told = self.refusal("hw_disk_buss", "scsi")
        self.assertIn(f"{self.path}: rule 'ours': ", told)
        self.assertIn("'hw_disk_buss' is not one of", told)

    def test_a_value_that_nova_does_not_take_is_one(self):
        """The word is legal in a rule file: which values are is Nova's."""
        told = self.refusal("hw_disk_bus", "virtio-scsi")
        self.assertIn(f"rule ours of {self.path}: ", told)
        self.assertIn("hw_disk_bus cannot be 'virtio-scsi': ", told)

    def test_who_never_asks_starts_all_the_same(self):
        self.flags(hardware_config="fixed", group="libvirt")
        pathlib.Path(self.rules, "site.toml").write_text("[[rule")
        self.start_host()
        self.assertStock(self.domain(self.boot({"os_name": "win10"})))
