"""The names by which rules are ignored: an id, or the beginning of several such as `gpu-*`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from trainyard.base import catalogue
from trainyard.base.errors import TrainyardError
from trainyard.base.findings import did_you_mean
from trainyard.base.limits import GUESSES
from trainyard.base.rules import Rule
from trainyard.base.system.data import policy_files

ANY = "*"
GROUP = re.compile(r"[a-z0-9][a-z0-9/-]*\*")


def fits(name: str, rule: str) -> bool:
    """Say whether a name means a rule.

    >>> fits("gpu-*", "gpu-shm"), fits("gpu-shm", "gpu-shm"), fits("gpu", "gpu-shm")
    (True, True, False)
    """
    return rule.startswith(name.removesuffix(ANY)) if name.endswith(ANY) else rule == name


class Names:
    """The rules that there are: the catalogue's, and policies among the objects, which have no other name."""

    def __init__(self, root: Path | None, others: Iterable[str] = ()) -> None:
        self._root = root
        self._others = frozenset(others)
        self._found: dict[str, Rule | None] = {}
        self._problems: dict[str, str | None] = {}

    def rule(self, id_: str) -> Rule | None:
        """Return the declared rule of an id, None where there is none."""
        if id_ not in self._found:
            self._found[id_] = catalogue.rule_of(id_, self._policies, self._root)
        return self._found[id_]

    def problem(self, name: str) -> str | None:
        """Return the sentence on a name that means no rule; None if it means one."""
        if name not in self._problems:
            self._problems[name] = self._problem(name)
        return self._problems[name]

    def _problem(self, name: str) -> str | None:
        if name.endswith(ANY):
            if not GROUP.fullmatch(name):
                return f"{name!r} does not name a group of rules; write its beginning, such as gpu-*"
            if any(fits(name, rule) for rule in (*self._others, *self._ids)):
                return None
            return f"no rule begins with {name.removesuffix(ANY)!r}; list the rules by `trainyard rule`"
        many = len(self._problems) > GUESSES
        if name in self._others or (name in self._ids if many else self.rule(name) is not None):
            return None
        if many:
            return f"rule {name!r} does not exist; list the rules by `trainyard rule`"
        return f"rule {name!r} does not exist; {did_you_mean(name, (*self._others, *self._ids), limit=3)}"

    @cached_property
    def _policies(self) -> list[Path]:
        return policy_files(self._root)

    @cached_property
    def _ids(self) -> Mapping[str, object]:
        return catalogue.kept_entries(self._root)


def parse_names(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the values of an option, each a list with commas; raises TrainyardError for an empty one."""
    words = [word.strip() for text in given for word in text.split(",")]
    if not all(words):
        raise TrainyardError("--ignore has an empty name; write a rule, as in --ignore gpu-shm")
    return tuple(dict.fromkeys(words))
