"""The property protection file, read while Nova runs."""

import logging
import os
import pathlib
import threading

import pytest
from nova import context as nova_context
from oslo_config import cfg
from oslo_policy import opts as policy_opts

from imprint import conf as imprint_conf
from imprint import exceptions
from imprint.nova import policies, property_protections

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
OPEN = "[.*]\ncreate = @\nread = @\nupdate = @\ndelete = @\n"
CLOSED = OPEN.replace("@", "!")
TUNERS = "[hw_.*]\ncreate = Tuner\nread = @\nupdate = admin\ndelete = admin\n"
SECRET = "[secret-section]\ncreate = secret-role\n"


class Site:
    """One nova.conf with its two files, and a caller."""

    def __init__(self, directory):
        self.path = directory / "protections.conf"
        self.policy = directory / "policy.yaml"
        self.conf = cfg.ConfigOpts()
        imprint_conf.register_opts(self.conf)
        self.conf([], default_config_files=[], default_config_dirs=[])
        policy_opts.set_defaults(self.conf, policy_file=str(self.policy))
        self.set(file=str(self.path))

    def set(self, **options):
        for name, value in options.items():
            self.conf.set_override(
                f"property_protection_{name}", value, "image_props_override"
            )

    def start(self):
        self.protections = property_protections.PropertyProtections(
            self.conf, policies.build_enforcer(self.conf)
        )

    def replace(self, text):
        """Put another file in the place, as careful editors do."""
        new = self.path.with_suffix(".new")
        new.write_text(text)
        new.replace(self.path)

    def may(self, *roles, said=(), name="hw_disk_bus", **kwargs):
        context = nova_context.RequestContext(
            "u", "p", roles=list(roles), is_admin=False, **kwargs
        )
        said = dict.fromkeys(said, "old")
        merged = {**said, name: "new"}
        replaced = {name} & said.keys()
        refusals = self.protections.find_refusals(
            context, said, merged, replaced
        )
        self.refused = list(refusals.values())
        if refusals:
            with pytest.raises(exceptions.ForbiddenOverrideError) as refused:
                self.protections.check(context, said, merged, replaced)
            assert str(refused.value) == self.refused[0]
        return not refusals


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    site.start()
    return site


@pytest.fixture
def errors(caplog):
    """Return the texts at ERROR so far."""
    caplog.set_level(logging.ERROR)
    return lambda: [record.getMessage() for record in caplog.records]


def test_without_a_file_everything_passes(site):
    site.set(file=None)
    assert site.may()
    assert not site.protections.enabled


def test_roles_decide_whatever_their_case(site):
    site.path.write_text(TUNERS)
    assert site.may("tuner")
    assert site.may("member", "TUNER")
    assert not site.may("member")
    assert not site.may("tuner", said=["hw_disk_bus"])
    assert site.may("admin", said=["hw_disk_bus"])
    assert not site.may("admin")
    assert not site.may("tuner", name="os_type")


def test_the_answer_names_property_and_operation_and_nothing_of_the_file(site):
    site.path.write_text(TUNERS)
    site.may("member")
    (text,) = site.refused
    assert text == (
        "The image property hw_disk_bus may not be overridden: its property "
        "protection does not let you create it"
    )
    site.may("member", said=["hw_disk_bus"])
    assert "let you update it" in site.refused[0]


def test_roles_of_a_service_that_sends_the_request_do_not_count(site):
    site.path.write_text(TUNERS)
    assert not site.may("member", service_roles=["tuner"])


@pytest.mark.parametrize(
    "text", [None, SECRET, "\0", "[a]\nsecret", TUNERS[:20]]
)
def test_a_file_that_cannot_be_used_refuses_everything(site, errors, text):
    if text is not None:
        site.path.write_text(text)
    for _ in range(3):
        assert not site.may("admin")
        assert not site.may("admin", name="os_type")
    (error,) = errors()
    assert "No image property is overridden" in error
    (text,) = site.refused
    assert text == (
        "The image property os_type may not be overridden: the property "
        "protections here cannot be read"
    )


def test_a_file_that_is_not_text_refuses_everything(site, errors):
    site.path.write_bytes(OPEN.encode("utf-16"))
    assert not site.may("admin")
    assert "not in UTF-8" in errors()[0]


def test_a_directory_in_the_place_refuses_everything(site):
    site.path.mkdir()
    assert not site.may("admin")


def test_each_change_counts_at_once(site):
    site.path.write_text(OPEN)
    assert site.may()
    site.path.write_text(CLOSED)
    assert not site.may()
    site.replace(OPEN)
    assert site.may()
    site.path.unlink()
    assert not site.may()
    site.replace(SECRET)
    assert not site.may()
    site.replace(OPEN)
    assert site.may()


def test_a_change_counts_that_leaves_size_and_time_alone(site):
    site.path.write_text(OPEN)
    old = site.path.stat().st_mtime_ns - 60 * 10**9
    os.utime(site.path, ns=(old, old))
    assert site.may()
    site.path.write_text(CLOSED)
    os.utime(site.path, ns=(old, old))
    assert not site.may()


def test_an_unchanged_file_is_read_once(site, monkeypatch):
    site.path.write_text(OPEN)
    monkeypatch.setattr(property_protections, "_SETTLED_SECONDS", -1)
    assert site.may()
    read = []
    monkeypatch.setattr(property_protections, "read_file", read.append)
    assert site.may()
    assert not read


def test_another_format_counts_at_once(site):
    site.policy.write_text('"tuner": "role:admin"\n')
    site.path.write_text(TUNERS.lower())
    assert site.may("tuner")
    site.set(rule_format="policies")
    assert not site.may("tuner")
    assert site.may("admin")


def test_the_same_fault_is_logged_again_after_it_was_mended(site, errors):
    for text in (SECRET, OPEN, SECRET):
        site.replace(text)
        site.may()
    assert len(errors()) == 2


POLICIES = "[.*]\ncreate = tuning\nread = @\nupdate = admin_api\ndelete = !\n"


def test_rules_of_novas_policy_file_decide(site):
    site.set(rule_format="policies")
    site.path.write_text(POLICIES)
    site.policy.write_text('"tuning": "role:tuner and not role:reader"\n')
    assert site.may("tuner")
    assert not site.may("tuner", "reader")
    assert not site.may("tuner", said=["hw_disk_bus"])


def test_a_rule_that_the_policy_file_lacks_is_for_nobody(site, errors):
    site.set(rule_format="policies")
    site.path.write_text(POLICIES)
    # what oslo.policy would take in place of an unknown rule
    site.policy.write_text('"default": "@"\n')
    for _ in range(3):
        assert not site.may("admin")
    (error,) = errors()
    assert "the policy rule tuning" in error
    site.policy.write_text('"default": "!"\n"tuning": "@"\n')
    assert site.may()


def test_rules_that_ask_whose_image_it_is_are_for_nobody(site):
    site.set(rule_format="policies")
    site.path.write_text(POLICIES)
    site.policy.write_text('"tuning": "project_id:%(project_id)s"\n')
    assert not site.may("admin")


def test_threads_see_whole_files_only(site):
    site.path.write_text(OPEN)
    both = OPEN + "# " + "x" * 100000, OPEN
    stop = threading.Event()
    answers = []

    def ask():
        while not stop.is_set():
            answers.append(site.may())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(200):
        site.replace(both[number % 2])
    stop.set()
    for thread in threads:
        thread.join()
    assert len(answers) > 4
    assert all(answers)


def test_the_pages_quote_the_refusals_and_show_a_file_that_works(site):
    troubleshooting = (DOCS / "user/troubleshooting.rst").read_text()
    example = (DOCS / "admin/property-protections.conf").read_text()
    assert not site.may("tuner")
    assert site.refused[0] in troubleshooting
    site.path.write_text(example)
    assert site.may("tuner")
    assert not site.may("member")
    assert site.may("member", name="hw_vif_model")
    assert not site.may("tuner", said=["hw_disk_bus"])
    assert site.refused[0] in troubleshooting
