from pathlib import Path

import pytest

from imprint.cloud import computes
from imprint.cloud.computes import FIRST, SECOND


def test_hosts_are_found_by_their_names():
    for compute in computes.COMPUTES:
        assert computes.find(compute.hostname) == compute
    with pytest.raises(KeyError):
        computes.find("imprint-3")


@pytest.mark.parametrize("number", [1, 2])
def test_a_cloud_has_as_many_hosts_as_were_chosen(number):
    assert len(computes.choose(number)) == number


def test_nothing_leads_to_the_first_host_but_to_its_network():
    assert FIRST.enter == ()
    assert FIRST.enter_network[0] == "nsenter"
    assert FIRST.seen(Path("/run/x")) == Path("/run/x")


def test_the_second_host_has_all_the_first_has_at_another_place():
    for name in ("hostname", "network", "folder", "enter", "enter_network"):
        assert getattr(FIRST, name) != getattr(SECOND, name), name
    for socket in computes.SOCKETS:
        assert SECOND.seen(socket) != socket
    assert FIRST.state("ovs") != SECOND.state("ovs")
