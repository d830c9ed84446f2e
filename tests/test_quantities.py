"""Quantities and durations, held to what the API machinery and Go make of them."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conftest import TESTS
from trainyard.base.quantities import Format, Quantity, duration_text, parse_duration

DATA = TESTS / "data"
QUANTITIES = [
    json.loads(line) for line in (DATA / "quantities_go.jsonl").read_text(encoding="utf-8").strip().split("\n")
]
"""Texts with the error, or with String(), Format, Cmp(1Gi), and where they fit Value() and MilliValue(), of
resource.Quantity in apimachinery 0.35.4. Left out are sums and amounts on which it contradicts itself: Value() of
negative fractions, suffixes beyond E. `tests/upstream` asks again."""
DURATIONS = [json.loads(line) for line in (DATA / "durations_go.jsonl").read_text(encoding="utf-8").strip().split("\n")]
"""Texts with the error, or with nanoseconds and String(), of time.ParseDuration in Go 1.26."""


def quantity(text: str, *, whole: bool) -> list[Any]:
    """Return what a text is read as, with its whole numbers where they fit, or the error."""
    try:
        read, gibi = Quantity.parse(text), Quantity.parse("1Gi")
    except ValueError as error:
        return [str(error)]
    numbers = [read.value(), read.milli_value()] if whole else []
    return [read.canonical(), read.format.value, (read > gibi) - (read < gibi), *numbers]


def test_reads_quantities_as_the_api_machinery() -> None:
    """Spelling, format, order, rounding and errors are those of resource.Quantity."""
    assert len(QUANTITIES) > 400
    read = {text: (quantity(text, whole=len(said) > 3), said) for text, *said in QUANTITIES}
    assert len(read) == len(QUANTITIES)
    assert {text: got for text, (got, said) in read.items() if got != said} == {}


def duration(text: str) -> list[Any]:
    """Return what a text is read as, and how that is spelled, or the error."""
    try:
        read = parse_duration(text)
    except ValueError as error:
        return [str(error)]
    return [read, duration_text(read)]


def test_reads_durations_as_go() -> None:
    """Values, rounding of fractions, overflow and errors are those of time.ParseDuration."""
    read = {text: (duration(text), said) for text, *said in DURATIONS}
    assert len(read) == len(DURATIONS) > 100
    assert {text: got for text, (got, said) in read.items() if got != said} == {}


NUMBERS = {
    "a whole number": (4, "4"),
    "a fraction": (0.5, "500m"),
    "a tiny fraction": (1e-7, "100e-9"),
    "a large float, spelled as JSON does": (1e21, "1e+21"),
    "a whole float": (2.0, "2"),
    "zero": (0.0, "0"),
    "a negative number": (-1, "-1"),
}


@pytest.mark.parametrize(("number", "canonical"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_quantities(number: float, canonical: str) -> None:
    """A number in a manifest is read from its JSON spelling."""
    assert Quantity.parse(number).canonical() == canonical


@pytest.mark.parametrize("value", [True, None, [], {}, float("nan"), float("inf")])
def test_other_values_are_no_quantities(value: Any) -> None:
    """What is neither text nor a number that JSON can hold is refused like any wrong quantity."""
    with pytest.raises(ValueError, match=r"."):
        Quantity.parse(value)


SUMS = {
    "like units": ("1Gi", "+", "1Gi", "2Gi"),
    "unlike units keep the first's format": ("1Gi", "+", "1G", "2073741824"),
    "zero takes the other's format": ("0", "+", "1536Mi", "1536Mi"),
    "millicores": ("1500m", "+", "0.5", "2"),
    "below zero": ("1", "-", "1500m", "-500m"),
    "to zero": ("1Ki", "-", "1024", "0"),
    "from zero": ("0", "-", "1Ki", "-1Ki"),
    "beyond 64 bits": ("9223372036854775807", "+", "1", "9223372036854775808"),
    "a multiple": ("1536Mi", "*", 4, "6Gi"),
    "none": ("1Gi", "*", 0, "0"),
}


@pytest.mark.parametrize(("first", "sign", "second", "canonical"), SUMS.values(), ids=SUMS)
def test_arithmetic_is_exact(first: str, sign: str, second: Any, canonical: str) -> None:
    """Sums and multiples keep the format of the first, as upstream's Add, Sub and Mul do."""
    quantity = Quantity.parse(first)
    result = {
        "+": lambda: quantity + Quantity.parse(second),
        "-": lambda: quantity - Quantity.parse(second),
        "*": lambda: second * quantity,
    }[sign]()
    assert result.canonical() == canonical


def test_equality_is_of_amounts() -> None:
    """Spelling and format do not count, also not as keys of a dict."""
    assert Quantity.parse("1Gi") == Quantity.parse("1024Mi") == Quantity.parse("1073741824")
    assert len({Quantity.parse(text) for text in ("1", "1000m", "1e0", "+1")}) == 1
    assert Quantity.parse("1") != 1
    assert not Quantity.parse("0Mi")
    assert str(-Quantity.parse("2Mi")) == "-2Mi"


def test_a_suffix_that_does_not_exist_becomes_an_exponent() -> None:
    """Upstream writes 1000E as `1`, which would change the amount; we do not follow it there."""
    assert Quantity.parse("1000E").canonical() == "1e21"


def test_values_below_zero_round_away_from_it() -> None:
    """Upstream documents this for Value(), and does it for exact amounts."""
    assert Quantity.parse("-1500m").value() == -2
    assert Quantity.parse("-0.0001").milli_value() == -1


@pytest.mark.parametrize(
    "text",
    [
        "1e999999999",
        "-1e999999999",
        "1e2147483647",
        "1e-2147483648",
        "0e1000000000",
        "0e-1000000000",
        "9" * 20_000,
        "9" * 1095 + "." + "9" * 20,
        "0." + "0" * 20_000 + "1",
    ],
)
def test_absurd_amounts_take_no_time(text: str) -> None:
    """Amounts that no machine has are read, compared and bounded rather than computed."""
    quantity = Quantity.parse(text)
    assert abs(quantity.value()) <= 10**19
    assert abs(quantity.milli_value()) <= 10**22
    assert abs(Fraction(quantity.amount)) <= 10**19
    assert (quantity + Quantity.parse("1Gi")).canonical()
    assert (quantity > Quantity.parse("1")) == (quantity.amount > 1)


@given(st.integers(-(10**30), 10**30), st.integers(-9, 18), st.sampled_from(Format))
def test_a_canonical_form_means_the_same_amount(unscaled: int, scale: int, form: Format) -> None:
    """What is written canonically reads back as the same amount; without a binary suffix it is decimal then."""
    quantity = Quantity(Decimal(unscaled).scaleb(scale), form)
    assume(form is not Format.BINARY_SI or abs(quantity.amount) < 2**63)
    again = Quantity.parse(quantity.canonical())
    assert again == quantity
    if form is not Format.BINARY_SI:
        assert again.canonical() == quantity.canonical()


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_a_duration_reads_back(nanoseconds: int) -> None:
    """The canonical text of a duration is that duration, to the nanosecond that Go's fractions allow."""
    assert parse_duration(duration_text(nanoseconds)) == nanoseconds
