"""Credentials in plain values, such as objects and specs are: each with its path."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.base.credentials.names import Sure, kind_of, weigh
from trainyard.base.credentials.prefilter import may_have
from trainyard.base.credentials.shapes import shapes_in
from trainyard.base.credentials.texts import in_text
from trainyard.base.findings import Path

PAIR = ("name", "key", "variable", "field")
"""What names a value that stands beside it: a variable of a container, a value of a chart, a header."""

REFERENCES = frozenset(
    {
        "valueFrom",
        "secretKeyRef",
        "secretRef",
        "configMapKeyRef",
        "configMapRef",
        "encryptedData",
        "imagePullSecrets",
        "remoteRef",
    }
)
"""Below these are names of what holds a secret, or what only a controller can decrypt."""

VARIABLES = frozenset({"env", "environment", "envVars", "extraEnv", "extraEnvs", "variables", "env_vars"})
"""Maps of variables that a program is told."""

LINES = frozenset({"args", "command", "arguments", "entrypoint", "cmd", "run", "script", "exec"})
"""Lists of words, or texts, that start a program."""

NESTED = ("kubectl.kubernetes.io/last-applied-configuration",)
"""Annotations that hold an object."""

VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
GIVEN = re.compile(r"--?([A-Za-z0-9][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
FLAG = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Leak:
    """A credential in plain sight: where, and what it is."""

    path: Path
    what: str
    name: str
    """The variable, flag or field whose value it is, if any."""
    value: str = field(repr=False)
    sure: Sure
    line: int = 0
    """Lines of the text before it, where the value at the path has several."""
    text: bool = False
    """Whether it is a part of the value at the path."""


def leaks(value: Any, *, told: bool = False) -> Iterator[Leak]:
    """Yield the credentials in a value of maps, lists and texts; `told` says that programs are told what it holds."""
    todo: list[tuple[Any, Path, bool]] = [(value, (), told)]
    while todo:
        value, path, told = todo.pop()
        if isinstance(value, Mapping):
            if "sops" in value and "mac" in str(value["sops"]):
                continue  # encrypted in place (getsops/sops v3.11 README.rst)
            yield from of_map(value, path, told, todo)
        elif isinstance(value, (list, tuple)):
            yield from of_list(value, path, told, todo)
        elif isinstance(value, str):
            yield from of_text(value, path, program=told)


def of_map(value: Mapping[Any, Any], path: Path, told: bool, todo: list[tuple[Any, Path, bool]]) -> Iterator[Leak]:
    """Yield the credentials in a map, under its keys and beside a name; nested values are put into `todo`."""
    for key, item in value.items():
        if isinstance(key, str) and len(key) >= SHORTEST and may_have(key):
            yield from (Leak((*path, key), shape.what, "", shape.value, Sure.YES) for shape in shapes_in(key))
        if isinstance(item, (Mapping, list, tuple)):
            if key not in REFERENCES and not (key == "extract" and "dataFrom" in path):
                below = key in VARIABLES or (key in LINES and not isinstance(item, Mapping))
                todo.append((item, (*path, key), below))
        elif item is None or item is True or item is False or is_plain(key, item):
            continue
        elif key == "value" and (
            named := next((value[one_field] for one_field in PAIR if isinstance(value.get(one_field), str)), "")
        ):
            yield from under(named, str(item), (*path, key), told=True, program=True)
        elif key in NESTED:
            yield from leaks_inside(str(item), (*path, key))
        else:
            name = str(key)
            yield from under(name, str(item), (*path, key), told=told or is_variable(name), program=key in LINES)


def is_plain(key: Any, item: Any) -> bool:
    """Say quickly that there is no credential in a value, which is so of nearly all."""
    if key == "value" or (isinstance(key, str) and kind_of(key) is not None):
        return False
    if not isinstance(item, str) or len(item) < SHORTEST:
        return not isinstance(item, str) or ("=" not in item and " " not in item)
    return key not in NESTED and not may_have(item)


def is_variable(key: str) -> bool:
    """Say whether a key is spelt as programs' variables are."""
    return VARIABLE.fullmatch(key) is not None


def of_list(
    value: list[Any] | tuple[Any, ...], path: Path, told: bool, todo: list[tuple[Any, Path, bool]]
) -> Iterator[Leak]:
    """Yield the credentials in a list: one text may be a flag and the next its value."""
    before = ""
    for index, item in enumerate(value):
        if not isinstance(item, str):
            todo.append((item, (*path, index), told))
            before = ""
            continue
        if FLAG.fullmatch(before) and kind_of(before) and not FLAG.fullmatch(item):
            yield from under(before.lstrip("-"), item, (*path, index), told=True)
        elif (given := GIVEN.fullmatch(item)) and kind_of(given[1]):
            yield from under(given[1], given[2], (*path, index), told=True)
        else:
            yield from of_text(item, (*path, index), program=told)
        before = item


def under(name: str, text: str, path: Path, *, told: bool, program: bool = False) -> Iterator[Leak]:
    """Yield the credentials in the value under a name: by its form, which says more, or else by the name."""
    found = list(of_text(text, path, program=program))
    yield from (replace(leak, name=leak.name or name) for leak in found)
    kind, sure = weigh(name, text, told=told) if not found else (None, Sure.NO)
    if kind is not None and sure is not Sure.NO:
        yield Leak(path, kind.value, name, text, sure)


def of_text(text: str, path: Path, *, program: bool = False) -> Iterator[Leak]:
    """Yield the credentials in a text."""
    if len(text) < SHORTEST and "=" not in text and " " not in text:
        return
    for spotted in in_text(text, program=program):
        line, part = text.count("\n", 0, spotted.start), spotted.value != text
        yield Leak(path, spotted.what, spotted.name, spotted.value, spotted.sure, line, part)


SHORTEST = 16
"""Characters of the shortest key that is known by its form; shorter ones stand behind a name."""


def leaks_inside(text: str, path: Path) -> Iterator[Leak]:
    """Yield the credentials of an object that an annotation holds as JSON, all at the annotation."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    for leak in leaks(value):
        yield Leak(path, leak.what, leak.name, leak.value, leak.sure, text=True)
    if isinstance(value, dict) and value.get("kind") == "Secret":
        yield from (Leak(path, leak.what, leak.name, leak.value, leak.sure, text=True) for leak in of_secret(value))


def of_secret(value: Mapping[str, Any]) -> Iterator[Leak]:
    """Yield the values of a Secret, each as what it holds."""
    for part in ("data", "stringData"):
        entries = value.get(part)
        for key, raw in entries.items() if isinstance(entries, dict) else ():
            if isinstance(raw, str):
                text = decode_base64(raw) if part == "data" else raw
                yield from entry(str(key), text, (part, key), raw)


def entry(key: str, text: str, path: Path, raw: str) -> Iterator[Leak]:
    """Yield one value of a Secret, if it is one at all."""
    found = next(under(key, text, path, told=True), None)
    if found is not None:
        yield Leak(path, found.what, key, raw, found.sure)


def decode_base64(raw: str) -> str:
    """Return the text of base64, or the text itself where it is none."""
    try:
        return base64.b64decode("".join(raw.split()), validate=True).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return raw
