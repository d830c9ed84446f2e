"""Semantic versions.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/semverlib.go; blang/semver v4.0.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import UINT_MAX, Opaque

FUNCTIONS = Functions(since=33)

_NUMBER = r"(0|[1-9][0-9]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """Three numbers and the parts of a pre-release; build metadata does not count."""

    numbers: tuple[int, int, int]
    pre: tuple[int | str, ...]

    def __lt__(self, other: Version) -> bool:
        if self.numbers != other.numbers:
            return self.numbers < other.numbers
        if bool(self.pre) != bool(other.pre):
            return bool(self.pre)
        return [_rank(part) for part in self.pre] < [_rank(part) for part in other.pre]


def _rank(part: int | str) -> tuple[bool, int, str]:
    """Numbers are below words."""
    return (False, part, "") if isinstance(part, int) else (True, 0, part)


def parse(text: str) -> Version:
    """Read a version strictly; raises ValueError."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no semantic version")
    pre = []
    for part in match[4].split(".") if match[4] else ():
        if part.isdecimal() and len(part) > 1 and part.startswith("0"):
            raise ValueError(f"numeric pre-release version must not contain leading zeroes {part!r}")
        pre.append(int(part) if part.isdecimal() else part)
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    if max(numbers) > UINT_MAX:
        raise ValueError("value out of range")
    return Version(numbers, tuple(pre))


def normalize(text: str) -> str:
    """Drop a leading v and leading zeros, and fill missing numbers; raises ValueError."""
    parts = text.removeprefix("v").split(".", 2)
    for place, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[place] = stripped if stripped[:1].isdecimal() else "0" + stripped
    if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][:3])


@FUNCTIONS.define("semver(string) -> kubernetes.Semver", "semver(string, bool) -> kubernetes.Semver")
def to_semver(text: str, tolerant: bool = False) -> Opaque:
    """Read a version."""
    try:
        return Opaque("kubernetes.Semver", parse(normalize(text) if tolerant else text))
    except ValueError as error:
        raise CelError(str(error)) from None


@FUNCTIONS.define("isSemver(string) -> bool", "isSemver(string, bool) -> bool")
def is_semver(text: str, tolerant: bool = False) -> bool:
    """Whether text is a version."""
    try:
        to_semver(text, tolerant)
    except CelError:
        return False
    return True


def version_of(value: Opaque) -> Version:
    """Return the version within a value."""
    assert isinstance(value.content, Version)
    return value.content


@FUNCTIONS.define("kubernetes.Semver.major() -> int")
def major(value: Opaque) -> int:
    """Return the first number."""
    return version_of(value).numbers[0]


@FUNCTIONS.define("kubernetes.Semver.minor() -> int")
def minor(value: Opaque) -> int:
    """Return the second number."""
    return version_of(value).numbers[1]


@FUNCTIONS.define("kubernetes.Semver.patch() -> int")
def patch(value: Opaque) -> int:
    """Return the third number."""
    return version_of(value).numbers[2]


@FUNCTIONS.define("kubernetes.Semver.compareTo(kubernetes.Semver) -> int")
def compare(one: Opaque, two: Opaque) -> int:
    """-1, 0 or 1."""
    left, right = version_of(one), version_of(two)
    return (left > right) - (left < right)


@FUNCTIONS.define("kubernetes.Semver.isGreaterThan(kubernetes.Semver) -> bool")
def is_greater(one: Opaque, two: Opaque) -> bool:
    """Whether one is newer."""
    return version_of(one) > version_of(two)


@FUNCTIONS.define("kubernetes.Semver.isLessThan(kubernetes.Semver) -> bool")
def is_less(one: Opaque, two: Opaque) -> bool:
    """Whether one is older."""
    return version_of(one) < version_of(two)
