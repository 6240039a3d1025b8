"""What samples say: medians, and ratios with their spread."""

import dataclasses
import random
import statistics
from collections.abc import Sequence

RESAMPLES = 2000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ratio:
    """A ratio of two medians and its 95 % confidence interval."""

    value: float
    low: float
    high: float


def compare(measured: Sequence[float], base: Sequence[float]) -> Ratio:
    """Divide the median of ``measured`` by that of ``base``.

    The interval is a percentile bootstrap, over whole rounds where both arms
    have a sample of each: a slow moment of the machine is then in or out for
    both.
    """
    chance = random.Random(1)  # noqa: S311  no secret
    resampled = sorted(
        _ratio(*_resample(measured, base, chance)) for _ in range(RESAMPLES)
    )
    return Ratio(
        value=_ratio(measured, base),
        low=resampled[int(RESAMPLES * 0.025)],
        high=resampled[int(RESAMPLES * 0.975) - 1],
    )


def _resample(
    measured: Sequence[float], base: Sequence[float], chance: random.Random
) -> tuple[Sequence[float], Sequence[float]]:
    if len(measured) != len(base):
        return (
            chance.choices(measured, k=len(measured)),
            chance.choices(base, k=len(base)),
        )
    rounds = list(zip(measured, base, strict=True))
    chosen = chance.choices(rounds, k=len(rounds))
    return [one for one, _ in chosen], [other for _, other in chosen]


def _ratio(measured: Sequence[float], base: Sequence[float]) -> float:
    return statistics.median(measured) / statistics.median(base)
