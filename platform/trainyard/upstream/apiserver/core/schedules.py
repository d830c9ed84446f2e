"""Cron schedules as Kubernetes reads them: five fields, or a descriptor.

Source: github.com/robfig/cron/v3 v3.0.1 parser.go ParseStandard, and Go's time.ParseDuration.
"""

from __future__ import annotations

import re

from trainyard.upstream.apiserver.core.shapes import integer
from trainyard.upstream.apiserver.core.timezones import is_zone

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_DAY_NAMES = "sun mon tue wed thu fri sat"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), 1)}
_DAYS = {name: number for number, name in enumerate(_DAY_NAMES.split())}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 6, _DAYS),
)
_DESCRIPTORS = frozenset(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"])
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DURATION = re.compile(r"[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_SPACES = re.compile(r"[\t\n\v\f\r \x85\xa0]+")


def parse_schedule(schedule: str) -> str | None:
    """What is wrong with a schedule, or None."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, _, schedule = schedule.partition("=")[2].partition(" ")
        if not schedule:
            return "a time zone must be followed by a schedule"
        if not is_zone(zone):
            return f"unknown time zone {zone}"
        schedule = schedule.strip()
    if schedule.startswith("@"):
        return _descriptor(schedule)
    fields = [field for field in _SPACES.split(schedule) if field]
    if len(fields) != len(_FIELDS):
        return f"expected exactly 5 fields, found {len(fields)}"
    for field, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            if part and (detail := _range(part, low, high, words)):
                return f"{name} {detail}: {part}"
    return None


def ever_comes(schedule: str) -> bool:
    """Say whether there is a day on which a schedule that parses begins: 31 February never comes.

    A day of the week that is stated comes in every month (robfig/cron v3.0.1 spec.go dayMatches).
    """
    fields = [field for field in _SPACES.split(schedule) if field]
    if len(fields) != len(_FIELDS) or fields[4] not in {"*", "?", "*/1"}:
        return True
    days, months = (_values(fields[index], *_FIELDS[index][1:]) for index in (2, 3))
    return any(min(days) <= _LONGEST[month - 1] for month in months)


_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of each month, in a leap year."""


def _values(field: str, low: int, high: int, words: dict[str, int]) -> set[int]:
    """Return the numbers that a field means."""
    found: set[int] = set()
    for part in field.split(","):
        ends, _, step = part.partition("/")
        first, _, last = ends.partition("-")
        if first in {"", "*", "?"}:
            begin, end = low, high
        else:
            begin = _number(first, words) or low
            end = (_number(last, words) or begin) if last else high if step else begin
        found |= set(range(begin, end + 1, _number(step, {}) or 1)) if part else set()
    return found or set(range(low, high + 1))


def _descriptor(schedule: str) -> str | None:
    if schedule in _DESCRIPTORS:
        return None
    if schedule.startswith("@every ") and _DURATION.fullmatch(schedule.removeprefix("@every ")):
        return None
    return "must be five fields, @hourly, @daily, @weekly, @monthly, @yearly or @every <duration>"


def _range(part: str, low: int, high: int, words: dict[str, int]) -> str | None:
    steps = part.split("/")
    ends = steps[0].split("-")
    if len(steps) > 2 or (len(ends) > 2 and ends[0] not in {"*", "?"}):
        return "has too many slashes or hyphens"
    if ends[0] in {"*", "?"}:
        first, last = low, high
    else:
        values = [_number(end, words) for end in ends]
        if None in values:
            return "is not a number or name"
        first, last = values[0] or 0, values[-1] or 0
    if len(steps) == 2:
        step = _number(steps[1], {})
        if not step:
            return "needs a positive step"
        if len(ends) == 1:
            last = high
    if first < low or last > high or first > last:
        return f"must lie within {low}-{high}, the lower end first"
    return None


def _number(text: str, words: dict[str, int]) -> int | None:
    if text.lower() in words:
        return words[text.lower()]
    if not _INTEGER.fullmatch(text):
        return None
    value = integer(text)
    return value if 0 <= value < 2**63 else None
