from pathlib import Path

import pytest

from imprint.cloud import computes
from imprint.cloud.computes import FIRST, SECOND, THIRD


def test_hosts_are_found_by_their_names():
    for compute in computes.EVERY:
        assert computes.find(compute.hostname) == compute
    with pytest.raises(KeyError):
        computes.find("imprint-4")


@pytest.mark.parametrize("number", [1, 2])
def test_a_cloud_has_as_many_hosts_as_were_chosen(number):
    assert len(computes.choose(number)) == number


def test_nothing_leads_to_the_first_host_but_to_its_network():
    assert FIRST.enter == ()
    assert FIRST.enter_network[0] == "nsenter"
    assert FIRST.seen(Path("/run/x")) == Path("/run/x")


@pytest.mark.parametrize(
    ("one", "other"), [(FIRST, SECOND), (FIRST, THIRD), (SECOND, THIRD)]
)
def test_each_host_has_all_another_has_at_another_place(one, other):
    for name in ("hostname", "network", "folder", "enter", "enter_network"):
        assert getattr(one, name) != getattr(other, name), name
    for socket in computes.SOCKETS:
        assert one.seen(socket) != other.seen(socket)
        assert other.seen(socket) != socket
    assert one.state("ovs") != other.state("ovs")
