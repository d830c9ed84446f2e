"""Files of settings and scripts that a command line names, as the options that they come to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import load

SETTINGS = (".yaml", ".yml", ".toml", ".json")
"""What files of settings end in."""

SCRIPTS = (".sh", ".bash")
"""What scripts for a shell end in."""

DEEP = 12
"""Maps within maps that are looked into."""

BRANCHES = re.compile(r"(?:^|[;\s])(?:if|case|for|while|until|function|eval|source)\s|\(\)\s*\{|<<", re.MULTILINE)
"""What lets a script run otherwise than its lines follow."""

ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=([\"']?)([\w./:-]*)\2\s*(?:#.*)?$", re.MULTILINE)
"""A line that gives a variable a plain value."""

USED = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def flat(name: str, text: str) -> dict[str, str]:
    """Return the settings of a file by their path, such as `trainer.devices`; none where it cannot be read."""
    try:
        value = parse(name, text)
    except (ValueError, RecursionError):
        return {}
    return dict(leaves(value, (), DEEP))


def parse(name: str, text: str) -> Any:
    """Return the value of a file of settings; raises ValueError where it is none."""
    if name.endswith(".toml"):
        import tomllib  # few jobs have such a file

        return tomllib.loads(text)
    if name.endswith(".json"):
        return json.loads(text)
    documents, findings = load(text.encode(), file=name)
    return documents[0].value if len(documents) == 1 and not findings else {}


def leaves(value: Any, path: tuple[str, ...], deep: int) -> Iterator[tuple[str, str]]:
    """Yield the texts, numbers and truth values in maps, each with its path; lists are left out."""
    if isinstance(value, dict) and deep:
        for key, inner in value.items():
            if isinstance(key, str):
                yield from leaves(inner, (*path, key), deep - 1)
    elif isinstance(value, bool):
        yield ".".join(path), str(value).lower()
    elif isinstance(value, (str, int, float)):
        yield ".".join(path), str(value)


def words(text: str) -> list[str]:
    """Return the words of a script with its plain variables filled in; none where it may run in several ways."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    script = "\n".join(lines)
    if BRANCHES.search(script):
        return []
    given = ASSIGNED.findall(script)
    names = [name for name, _, _ in given]
    values = {name: value for name, _, value in given if names.count(name) == 1}
    filled = USED.sub(lambda found: values.get(found[1] or found[2], found[0]), ASSIGNED.sub("", script))
    return filled.split()
