import threading

import pytest

from imprint.cloud import plan
from imprint.cloud.model import Step


def step(name, *needs):
    return Step(name=name, needs=needs, run=lambda: None)


def run(nodes, act):
    cancelled = threading.Event()
    plan.run(nodes, act, cancelled)
    return cancelled


def test_each_is_done_after_all_it_needs():
    order = []
    nodes = [step("c", "a", "b"), step("b", "a"), step("a")]
    run(nodes, lambda node: order.append(node.name))
    assert order == ["a", "b", "c"]


def test_what_needs_nothing_of_each_other_is_done_at_once():
    together = threading.Barrier(2, timeout=10)
    run([step("a"), step("b")], lambda _node: together.wait())


def test_after_a_failure_nothing_starts_and_what_runs_is_told():
    started = []
    told = threading.Event()
    cancelled = threading.Event()

    def act(node):
        started.append(node.name)
        if node.name == "bad":
            raise RuntimeError("broken")
        if node.name == "long" and cancelled.wait(10):
            told.set()

    nodes = [step("bad"), step("long"), step("late", "long")]
    with pytest.raises(RuntimeError, match="broken"):
        plan.run(nodes, act, cancelled)
    assert told.is_set()
    assert "late" not in started


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([step("a", "missing")], "missing"),
        ([step("a", "b"), step("b", "a")], "circle"),
    ],
)
def test_needs_that_cannot_be_met_are_named(nodes, message):
    with pytest.raises(ValueError, match=message):
        run(nodes, lambda _node: None)
