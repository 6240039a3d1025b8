import pytest
from bench.relations.figures import compare
from bench.relations.report import Goal
from bench.relations.rounds import FEWEST, Arm, measure


def test_a_ratio_is_that_of_the_medians():
    ratio = compare([2.0, 4.0, 60.0], [1.0, 2.0, 3.0])
    assert ratio.value == 2.0
    assert ratio.low <= ratio.value <= ratio.high


def test_a_slow_moment_of_the_machine_meets_both_arms():
    base = [1.0, 5.0, 1.0, 7.0, 2.0]
    ratio = compare([3 * each for each in base], base)
    assert (ratio.low, ratio.high) == pytest.approx((3, 3))


def test_an_arm_of_few_samples_is_compared_all_the_same():
    ratio = compare([30.0, 30.0, 30.0], [1.0] * 40)
    assert (ratio.low, ratio.value, ratio.high) == (30, 30, 30)


@pytest.mark.parametrize(
    ("goal", "figure", "verdict"),
    [
        (Goal(least=300), (900, 800, 950), "met"),
        (Goal(least=300), (200, 190, 210), "missed"),
        (Goal(least=300), (290, 200, 310), "missed, within the noise"),
        (Goal(most=1.01), (1.0, 0.99, 1.005), "met"),
        (Goal(most=1.01), (1.0, 0.98, 1.02), "met, within the noise"),
        (Goal(most=1.01), (1.1, 1.05, 1.2), "missed"),
    ],
)
def test_a_goal_is_judged_with_the_noise(goal, figure, verdict):
    assert goal.judge(*figure) == verdict


def test_every_round_has_a_sample_of_each_arm():
    turns = {"a": [], "b": []}

    def build(name):
        return Arm(name, lambda turn: turns[name].append(turn) or 0.5)

    taken = measure([build("a"), build("b")], rounds=3, budget=60)
    assert turns == {"a": [-1, 0, 1, 2], "b": [-1, 0, 1, 2]}
    assert taken == {"a": [0.5] * 3, "b": [0.5] * 3}


def test_an_arm_that_spent_its_budget_has_few_samples():
    arms = [Arm("slow", lambda _turn: 100), Arm("quick", lambda _turn: 1)]
    taken = measure(arms, rounds=20, budget=60)
    assert len(taken["slow"]) == FEWEST
    assert len(taken["quick"]) == 20
