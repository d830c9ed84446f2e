"""Moments and spans of time: reading, writing, and their parts.

Source: google/cel-go v0.26.0 common/types/timestamp.go, duration.go; Go's time.ParseDuration and RFC 3339 layout.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from trainyard.base import quantities
from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.library.arithmetic import moment
from trainyard.upstream.apiserver.cel.values import NANOSECONDS, Duration, Timestamp

FUNCTIONS = Functions()

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_RFC3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d+))?(Z|([+-])(\d\d):(\d\d))", re.ASCII)
_OFFSET = re.compile(r"([+-]?)(\d\d?):(\d\d?)", re.ASCII)


@lru_cache(maxsize=4096)
def parse_timestamp(text: str) -> Timestamp | None:
    """Read an RFC 3339 moment to the nanosecond, or return None."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    offset = 0
    if match[9]:
        hours, minutes = int(match[10]), int(match[11])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 60 + minutes) * (1 if match[9] == "+" else -1)
    try:
        date = dt.datetime(max(year, 1), month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError:
        return None
    if year < 1:
        return None
    since = date - EPOCH
    fraction = int((match[7] or "").ljust(9, "0")[:9])
    seconds = since.days * 86400 + since.seconds - offset * 60
    return Timestamp(seconds * NANOSECONDS + fraction, offset)


@FUNCTIONS.define("timestamp(string) -> timestamp")
def to_timestamp(text: str) -> Timestamp:
    """Read an RFC 3339 moment."""
    found = parse_timestamp(text)
    if found is None:
        raise CelError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    return moment(found.nanoseconds, found.offset)


@FUNCTIONS.define("string(timestamp) -> string")
def timestamp_text(value: Timestamp) -> str:
    """Write RFC 3339, with as many digits of the second as it has."""
    seconds, rest = divmod(value.nanoseconds, NANOSECONDS)
    date = EPOCH + dt.timedelta(seconds=seconds, minutes=value.offset)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    hours, minutes = divmod(abs(value.offset), 60)
    zone = f"{'-' if value.offset < 0 else '+'}{hours:02d}:{minutes:02d}" if value.offset else "Z"
    return f"{date.year:04d}-{date:%m-%dT%H:%M:%S}{fraction}{zone}"


@lru_cache(maxsize=4096)
def parse_duration(text: str) -> Duration | None:
    """Read a Go duration (`1h30m`, `-1.5s`, `0`), or return None."""
    try:
        return Duration(quantities.parse_duration(text))
    except ValueError:
        return None


@FUNCTIONS.define("duration(string) -> duration")
def to_duration(text: str) -> Duration:
    """Read a Go duration."""
    found = parse_duration(text)
    if found is None:
        raise CelError("type conversion error from 'string' to 'google.protobuf.Duration'")
    return found


@FUNCTIONS.define("string(duration) -> string")
def duration_text(value: Duration) -> str:
    """Write a span in seconds: `5400s`, `0.5s`."""
    seconds = value.nanoseconds / NANOSECONDS
    return f"{Decimal(repr(seconds)):f}".removesuffix(".0") + "s"


def local(value: Timestamp, zone: str) -> dt.datetime:
    """Return a moment's calendar fields in a time zone: an IANA name, or hours and minutes from UTC."""
    date = EPOCH + dt.timedelta(seconds=value.nanoseconds // NANOSECONDS)
    if match := _OFFSET.fullmatch(zone):
        minutes = int(match[2]) * 60 + int(match[3])
        return date + dt.timedelta(minutes=-minutes if match[1] == "-" else minutes)
    try:
        return date.astimezone(ZoneInfo(zone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CelError(f"unknown time zone {zone}") from None


def part(name: str) -> Callable[[Callable[[dt.datetime], int]], Callable[..., int]]:
    """Define one part of a moment, in UTC or in a given time zone."""

    def define(read: Callable[[dt.datetime], int]) -> Callable[..., int]:
        @FUNCTIONS.define(f"timestamp.{name}() -> int", f"timestamp.{name}(string) -> int")
        def get(value: Timestamp, zone: str = "UTC") -> int:
            return read(local(value, zone))

        return get

    return define


part("getFullYear")(lambda date: date.year)
part("getMonth")(lambda date: date.month - 1)
part("getDayOfYear")(lambda date: date.timetuple().tm_yday - 1)
part("getDayOfMonth")(lambda date: date.day - 1)
part("getDate")(lambda date: date.day)
part("getDayOfWeek")(lambda date: date.isoweekday() % 7)
part("getHours")(lambda date: date.hour)
part("getMinutes")(lambda date: date.minute)
part("getSeconds")(lambda date: date.second)


@FUNCTIONS.define("timestamp.getMilliseconds() -> int", "timestamp.getMilliseconds(string) -> int")
def milliseconds(value: Timestamp, zone: str = "UTC") -> int:
    """Milliseconds within the second."""
    local(value, zone)
    return value.nanoseconds % NANOSECONDS // 1_000_000


def whole_units(name: str, unit: int) -> None:
    """Define how many whole units a span has, towards zero."""

    @FUNCTIONS.define(f"duration.{name}() -> int")
    def get(value: Duration) -> int:
        count = abs(value.nanoseconds) // unit
        return -count if value.nanoseconds < 0 else count


whole_units("getHours", 3600 * NANOSECONDS)
whole_units("getMinutes", 60 * NANOSECONDS)
whole_units("getSeconds", NANOSECONDS)
whole_units("getMilliseconds", 1_000_000)
