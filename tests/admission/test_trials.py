"""Values of fields that are tried until one fits."""

from __future__ import annotations

from itertools import product

import pytest

from trainyard.judge.admission.trials import roundest


@pytest.mark.parametrize(("low", "high"), [item for item in product(range(20), range(24)) if item[1] - item[0] > 1])
def test_the_number_that_is_tried_is_the_roundest(low: int, high: int) -> None:
    """Jobs of like pods, but of other numbers, try the same, of which each is judged once."""

    def power(number: int) -> int:
        return number & -number

    assert low < roundest(low, high) < high
    assert power(roundest(low, high)) == max(map(power, range(low + 1, high)))
