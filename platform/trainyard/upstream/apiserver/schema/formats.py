"""String formats as CRD schemas know them: a name outside this table is ignored, as the server ignores it.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/validation/formats.go (the names), k8s.io/kube-openapi
pkg/validation/strfmt and its govalidator (the checks).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from itertools import cycle
from typing import Any

import re2

from trainyard.base.limits import MIB
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.schema import uris

Check = Callable[[str], bool]

HOSTNAME = (
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
)
CARD = re.compile(
    "(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}"
    "|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})"
)
COLOR = "(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])"
SPACE = r"[\t\n\f\r ]*"
SHORT_NAME = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
GO_DURATION = re.compile("[-+]?(?:0|(?:(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
SCALA_DURATION = re.compile(r"(?<![0-9])[0-9]++[\t\n\f\r ]*+([A-Za-zµ]+)")
UNITS = ("ns", "us", "µs", "ms", "s", "m", "h", "d", "w", "sec", "min", "hr", "wk")
UNIT_PREFIXES = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
ADDRESSES_OF_HARDWARE = re.compile(
    "(?:[0-9a-fA-F]{2}(?:(?::[0-9a-fA-F]{2}){5}|(?::[0-9a-fA-F]{2}){7}|(?::[0-9a-fA-F]{2}){19}"
    "|(?:-[0-9a-fA-F]{2}){5}|(?:-[0-9a-fA-F]{2}){7}|(?:-[0-9a-fA-F]{2}){19}))"
    "|(?:[0-9a-fA-F]{4}(?:(?:\\.[0-9a-fA-F]{4}){2}|(?:\\.[0-9a-fA-F]{4}){3}|(?:\\.[0-9a-fA-F]{4}){9}))"
)
ADDRESS_OF_MAIL = re.compile(
    r"(?:(?:\"[^\"]*\"|[^<>@,;:\"\[\]()]++)?[\t ]*<{mail}>|{mail})".replace(
        "{mail}",
        r"(?:[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*|\"[^\"]+\")"
        r"@(?:[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*|\[[0-9A-Fa-f:.]+\])",
    )
)


def find(name: str) -> Check | None:
    """Return the check of a format, dashes in its name not counting, or None where the server knows none."""
    return FORMATS.get(name.replace("-", ""))


def match_check(pattern: str) -> Check:
    """Return a check that the whole text matches."""
    found = re.compile(pattern, re.ASCII).fullmatch
    return lambda text: found(text) is not None


def uuid(version: str = "[0-9a-f]", variant: str = "[0-9a-f]") -> Check:
    """Return the check of a UUID, dashes optional, in either case."""
    return match_check(
        f"(?i:[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}})"
    )


def is_hostname(text: str) -> bool:
    """Whether the text is a host name."""
    fits = len(text.encode()) <= 255 and all(len(part.encode()) <= 63 for part in text.split("."))
    return fits and hostname().search(text) is not None


@cache
def hostname() -> Any:
    """Return the pattern of host names; its tables of letters take longer to build than most files to judge."""
    options = re2.Options()
    options.log_errors, options.never_capture, options.max_mem = False, True, 64 * MIB
    return re2.compile(HOSTNAME, options=options)


def is_date(text: str) -> bool:
    """Whether the text is a day of the calendar, as 2006-01-02."""
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    year = int(text[:4])
    try:
        date(year or 4, int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Whether the text is a day, `t` and a time with a zone; 23:59:59 is the last."""
    day, mark, rest = text.lower().partition("t")
    match = TIME.fullmatch(rest.partition("t")[0])
    return (
        bool(mark) and match is not None and is_date(day) and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"
    )


def is_duration(text: str) -> bool:
    """Whether Go reads the text as a duration, or any part of it is a number with a unit, as Scala writes them."""
    if GO_DURATION.fullmatch(text):
        return True
    units = [unit.lower() for unit in SCALA_DURATION.findall(text)]
    return any(unit in UNITS or unit.startswith(UNIT_PREFIXES) for unit in units)


def is_credit_card(text: str) -> bool:
    """Whether the digits are those of a card, with their check digit."""
    digits = re.sub("[^0-9]+", "", text)
    doubled = (int(digit) * factor for digit, factor in zip(reversed(digits), cycle((1, 2)), strict=False))
    return CARD.fullmatch(digits) is not None and sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def is_isbn10(text: str) -> bool:
    """Whether the text is an ISBN of ten digits, spaces and dashes not counting."""
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch("[0-9]{9}[0-9X]", digits):
        return False
    return sum(place * (10 if digit == "X" else int(digit)) for place, digit in enumerate(digits, 1)) % 11 == 0


def is_isbn13(text: str) -> bool:
    """Whether the text is an ISBN of thirteen digits, spaces and dashes not counting."""
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch("[0-9]{13}", digits):
        return False
    return sum(int(digit) * factor for digit, factor in zip(digits, cycle((1, 3)), strict=False)) % 10 == 0


is_short_name = match_check(SHORT_NAME)
is_long_name = match_check(rf"{SHORT_NAME}(?:\.{SHORT_NAME})*")
is_social_security = match_check("[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}")

FORMATS: dict[str, Check] = {
    "bsonobjectid": match_check("[0-9a-fA-F]{24}"),
    "byte": match_check("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "cidr": lambda text: addresses.parse_network(text) is not None,
    "creditcard": is_credit_card,
    "date": is_date,
    "datetime": is_date_time,
    "duration": is_duration,
    "email": lambda text: ADDRESS_OF_MAIL.fullmatch(text.strip(" \t")) is not None,
    "hexcolor": match_check("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": is_hostname,
    "ipv4": lambda text: "." in text and addresses.parse(text) is not None,
    "ipv6": lambda text: ":" in text and addresses.parse(text) is not None,
    "isbn": lambda text: is_isbn10(text) or is_isbn13(text),
    "isbn10": is_isbn10,
    "isbn13": is_isbn13,
    "k8slongname": lambda text: len(text) <= 253 and is_long_name(text),
    "k8sshortname": lambda text: len(text) <= 63 and is_short_name(text),
    "mac": lambda text: ADDRESSES_OF_HARDWARE.fullmatch(text) is not None,
    "password": lambda _: True,
    "rgbcolor": match_check(rf"rgb\({SPACE}{COLOR}{SPACE},{SPACE}{COLOR}{SPACE},{SPACE}{COLOR}{SPACE}\)"),
    "ssn": lambda text: len(text) == 11 and is_social_security(text),
    "uri": uris.is_request,
    "uuid": uuid(),
    "uuid3": uuid("3"),
    "uuid4": uuid("4", "[89ab]"),
    "uuid5": uuid("5", "[89ab]"),
}
