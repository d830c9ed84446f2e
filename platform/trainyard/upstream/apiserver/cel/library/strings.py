"""Text: characters, parts, case, splitting and joining.

Source: google/cel-go v0.26.0 ext/strings.go, version 2, as Kubernetes enables it since 1.29.
"""

from __future__ import annotations

from trainyard.base.quantities import SPACES
from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.library import formatting
from trainyard.upstream.apiserver.cel.library.arithmetic import check_size

FUNCTIONS = Functions(since=29)

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}

FUNCTIONS.define("string.format(list<dyn>) -> string")(formatting.render)


def out_of_range(place: int) -> CelError:
    """Say that a place is not within the text."""
    return CelError(f"index out of range: {place}")


@FUNCTIONS.define("string.charAt(int) -> string")
def char_at(text: str, place: int) -> str:
    """Return the character at a place; nothing right behind the last one."""
    if not 0 <= place <= len(text):
        raise out_of_range(place)
    return text[place : place + 1]


@FUNCTIONS.define("string.indexOf(string) -> int", "string.indexOf(string, int) -> int")
def index_of(text: str, part: str, start: int = 0) -> int:
    """Where a part first begins, from a place on; -1 where it does not."""
    if not part:
        return start
    if start < 0:
        raise out_of_range(start)
    return text.find(part, start)


@FUNCTIONS.define("string.lastIndexOf(string) -> int")
def last_index_of(text: str, part: str) -> int:
    """Where a part last begins; -1 where it does not."""
    return text.rfind(part)


@FUNCTIONS.define("string.lastIndexOf(string, int) -> int")
def last_index_before(text: str, part: str, last: int) -> int:
    """Where a part last begins at or before a place; -1 where it does not."""
    if not part:
        return last
    if last < 0:
        raise out_of_range(last)
    return -1 if last >= len(text) else text.rfind(part, 0, last + len(part))


@FUNCTIONS.define("string.lowerAscii() -> string")
def lower_ascii(text: str) -> str:
    """Lower the letters A to Z."""
    return text.translate(_LOWER)


@FUNCTIONS.define("string.upperAscii() -> string")
def upper_ascii(text: str) -> str:
    """Raise the letters a to z."""
    return text.translate(_UPPER)


@FUNCTIONS.define("string.replace(string, string) -> string", "string.replace(string, string, int) -> string")
def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """Replace so many occurrences, all where the count is negative."""
    check_size(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
    return text.replace(old, new, max(count, -1))


@FUNCTIONS.define("string.split(string) -> list<string>", "string.split(string, int) -> list<string>")
def split(text: str, separator: str, count: int = -1) -> list[str]:
    """Split into at most so many parts, as many as there are where the count is negative."""
    if not count:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


@FUNCTIONS.define("string.substring(int) -> string")
def tail(text: str, start: int) -> str:
    """Return the text from a place on."""
    if not 0 <= start <= len(text):
        raise out_of_range(start)
    return text[start:]


@FUNCTIONS.define("string.substring(int, int) -> string")
def substring(text: str, start: int, end: int) -> str:
    """Return the text between two places."""
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for place in (start, end):
        if not 0 <= place <= len(text):
            raise out_of_range(place)
    return text[start:end]


@FUNCTIONS.define("string.trim() -> string")
def trim(text: str) -> str:
    """Cut white space off both ends."""
    return text.strip(SPACES)


@FUNCTIONS.define("list<string>.join() -> string", "list<string>.join(string) -> string")
def join(parts: list[str], separator: str = "") -> str:
    """Put texts together."""
    for part in parts:
        if not isinstance(part, str):
            raise CelError(f"join: invalid input: {part}")
    check_size(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


@FUNCTIONS.define("strings.quote(string) -> string")
def quote(text: str) -> str:
    """Put text in double quotes, with escapes for what would end it or cannot be seen."""
    return f'"{text.translate(_ESCAPES)}"'


_ESCAPES = str.maketrans(
    {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\""}
)
