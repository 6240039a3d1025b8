"""Arms that are measured in turns.

Every round takes one sample of each arm, in random order, so that whatever
else the machine does meets all arms alike.  An arm that takes its time has
fewer samples: it sits out the rounds after its budget is spent.
"""

import dataclasses
import random
from collections.abc import Callable, Sequence

FEWEST = 3  # samples, whatever they cost


@dataclasses.dataclass(frozen=True)
class Arm:
    """One way of asking; ``sample`` gets the round's number, returns s."""

    name: str
    sample: Callable[[int], float]


def measure(
    arms: Sequence[Arm], *, rounds: int, budget: float, warm_up: int = 1
) -> dict[str, list[float]]:
    """Return the samples of each arm by its name."""
    order = random.Random(rounds)  # noqa: S311  no secret
    samples: dict[str, list[float]] = {arm.name: [] for arm in arms}
    for turn in range(-warm_up, rounds):
        for arm in order.sample(arms, k=len(arms)):
            taken = samples[arm.name]
            if len(taken) >= FEWEST and sum(taken) > budget:
                continue
            seconds = arm.sample(turn)
            if turn >= 0:
                taken.append(seconds)
    return samples
