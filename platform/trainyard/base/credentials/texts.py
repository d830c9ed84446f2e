"""Credentials in texts: command lines, scripts, settings, and the small files that jobs bring along."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.base.credentials.names import Sure, kind_of, weigh
from trainyard.base.credentials.prefilter import may_have
from trainyard.base.credentials.shapes import shapes_in

NAME = (
    r"[A-Za-z0-9_.-]{0,80}(?i:tokens?|secrets?|passwords?|passwd|passphrase|passcode|pwd|pass|credentials?|creds?|"
    r"api[_.-]?keys?|[a-z0-9][_.-]?keys?)(?:[_-]?\d+)?"
)
VALUE = r"(?:\\?\"(?P<double>[^\"\\\n]*)\\?\"|'(?P<single>[^'\n]*)'|(?P<bare>[^\s\"',;&|)\]}]+))"
FLAG = re.compile(rf"(?<![A-Za-z0-9-])--?(?P<name>{NAME})(?:\s*=\s*|\s+){VALUE}")
VARIABLE = re.compile(rf"(?:^|[\s;&\"'`]|(?<![A-Za-z0-9-])--?[a-z][a-z-]{{0,30}}=)(?P<name>{NAME})={VALUE}")
FIELD = re.compile(
    rf"(?:^|[\s,{{(;?&\"'])(?P<quote>\\?[\"']?)(?P<name>{NAME})(?P=quote)\s*(?::|=|:=)\s*{VALUE}", re.MULTILINE
)
LOGIN = re.compile(r"(?:^|\s)(?:-u|--user)[ =][\"']?(?!\d+:\d+(?!\S))[A-Za-z0-9_.@-]+:(?P<bare>[^\s\"'@/]{3,})")
SETTING = re.compile(rf"^[ \t]*(?P<name>requirepass|masterauth)[ \t]+{VALUE}[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
"""A line of Redis' or Valkey's settings, whose values no sign sets apart (redis 8.2 redis.conf)."""

NETRC = re.compile(rf"(?:^|\s)(?:machine\s+\S+|default)\s+login\s+\S+\s+(?P<name>password)\s+{VALUE}")
"""A login as programs read it from ~/.netrc (GNU inetutils 2.5, The .netrc file)."""


class Spotted(NamedTuple):
    """A credential in a text."""

    what: str
    name: str
    """What it stands under, where it has a name there."""
    value: str
    start: int
    """Of the value, in characters from the text's start."""
    sure: Sure


def in_text(text: str, *, program: bool = False) -> Iterator[Spotted]:
    """Yield the credentials in a text; `program` says that it is a command line or a script of one.

    Tokens and keys are known by their form, everything else by the name before it.
    """
    if not may_have(text):
        return
    taken: set[int] = set()
    for key in shapes_in(text):
        taken.update(range(key.start, key.start + len(key.value)))
        yield Spotted(key.what, "", key.value, key.start, Sure.EXAMPLE if key.documented else Sure.YES)
    for pattern, told in ((FLAG, program), (VARIABLE, True), (FIELD, False)):
        for match in pattern.finditer(text):
            group = next((quoting for quoting in ("double", "single", "bare") if match[quoting] is not None), "bare")
            value, start = match[group], match.start(group)
            if start in taken or kind_of(match["name"]) is None or (group == "bare" and is_code(value)):
                continue
            kind, sure = weigh(match["name"], value, told=told and (group != "bare" or program or "=" in match[0]))
            if sure is not Sure.NO:
                taken.update(range(start, start + len(value)))
                yield Spotted(kind.value, match["name"], value, start, sure)
    for match in (*SETTING.finditer(text), *NETRC.finditer(text)):
        group = next((quoting for quoting in ("double", "single", "bare") if match[quoting] is not None), "bare")
        if match.start(group) not in taken and weigh("password", match[group], told=True)[1] is not Sure.NO:
            yield Spotted("a password", match["name"], match[group], match.start(group), Sure.YES)
    for match in LOGIN.finditer(text) if program else ():
        if match.start("bare") not in taken and weigh("password", match["bare"], told=True)[1] is not Sure.NO:
            yield Spotted("a password", "", match["bare"], match.start("bare"), Sure.YES)


def is_code(value: str) -> bool:
    """Say whether an unquoted value is an expression or a type of a programming language."""
    return (
        re.search(r"[()\[\]{}<>$]", value) is not None
        or re.fullmatch(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*", value) is not None
    )
