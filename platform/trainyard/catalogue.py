"""Every rule that Trainyard knows: those declared beside their checks, a plug-in's too, and the policies'."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from trainyard.documents import load
from trainyard.errors import TrainyardError
from trainyard.findings import Severity
from trainyard.labels import OURS
from trainyard.rules import Rule
from trainyard.system import files
from trainyard.system.data import PACKAGE, policy_files, policy_id
from trainyard.system.registry import GROUPS, added

TEXTS = ("title", "reason", "fix", "source")
"""What a policy in CEL says of itself in annotations of ours."""

SECTIONS = {"Why": "why", "Fix": "fix", "Source": "source"}
"""What a policy in Python says of itself in the docstring, after its title."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule of the catalogue; several checks may share one id, each after its own source."""

    rule: Rule
    sources: tuple[str, ...]
    declared: tuple[str, ...] = field(default=(), compare=False)
    """Modules or files that declare it."""


def entries(root: Path | None = None) -> Mapping[str, Entry]:
    """Return all rules by id, sorted: Trainyard's, those of plug-ins, and policies, the repository's too.

    What a policy finds in objects a check may find in specs under the same id: its source counts too.

    Raises TrainyardError for a policy that cannot be read.
    """
    found: dict[str, Entry] = dict(declared())
    for path in policy_files(root):
        rule, file = policy(path), f"policies/{path.name}"
        before = found.get(rule.id, Entry(rule, ()))
        sources = tuple(dict.fromkeys((*before.sources, rule.source)))
        found[rule.id] = Entry(rule, sources, (*before.declared, file))
    return dict(sorted(found.items()))


@cache
def declared() -> Mapping[str, Entry]:
    """Return the rules that modules declare, by id; imports every module that does."""
    found: dict[str, Entry] = {}
    for module in modules():
        for rule in of_module(module):
            before = found.get(rule.id)
            if before is None:
                found[rule.id] = Entry(rule, (rule.source,), (module.__name__,))
            else:
                sources = tuple(dict.fromkeys((*before.sources, rule.source)))
                places = tuple(dict.fromkeys((*before.declared, module.__name__)))
                found[rule.id] = Entry(before.rule, sources, places)
    return found


def modules() -> Iterator[ModuleType]:
    """Yield the modules that declare rules: ours by a look at their text, and those that plug-ins are in."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if re.search(r"\bRule\(", path.read_text(encoding="utf-8")):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    for group in GROUPS:
        for entry in added(group):
            entry.load()
            yield sys.modules[entry.module]


def of_module(module: ModuleType) -> Iterator[Rule]:
    """Yield the rules that a module has under names of its own, or in maps and tuples under such a name."""
    for value in vars(module).values():
        yield from rules_in(value)


def rules_in(value: Any) -> Iterator[Rule]:
    """Yield a rule, or the rules that a map or a tuple holds."""
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Mapping):
        yield from (each for each in value.values() if isinstance(each, Rule))
    elif isinstance(value, tuple):
        yield from (each for each in value if isinstance(each, Rule))


def policy(path: Path) -> Rule:
    """Return the rule that a policy's file is, without running it.

    Raises TrainyardError where the file cannot be read or does not say what every rule says.
    """
    return of_python(path) if path.suffix == ".py" else of_cel(path)


def of_cel(path: Path) -> Rule:
    """Return the rule that a ValidatingAdmissionPolicy is; its annotations carry what people are told."""
    documents, findings = load(files.read(path) or b"", file=path.name)
    value = documents[0].value if len(documents) == 1 and not findings else None
    if not isinstance(value, dict):
        reason = findings[0].message if findings else "it is something else"
        raise TrainyardError(f"policy {path.name} should be one ValidatingAdmissionPolicy: {reason}")
    metadata = value.get("metadata") or {}
    if value.get("kind") != "ValidatingAdmissionPolicy" or metadata.get("name") != path.stem:
        raise TrainyardError(f"policy {path.name} should be a ValidatingAdmissionPolicy named {path.stem!r}")
    notes = metadata.get("annotations") or {}
    said = {name: str(notes.get(f"{OURS}/{name}") or "") for name in TEXTS}
    missing = [name for name, text in said.items() if not text]
    if missing:
        raise TrainyardError(f"policy {path.name} has no annotation {OURS}/{missing[0]}")
    severity = Severity(notes.get(f"{OURS}/severity", "error"))
    return of_policy(path.stem, said["title"], said["reason"], said["fix"], said["source"], severity)


def of_python(path: Path) -> Rule:
    """Return the rule that a Python policy is; its docstring has the title, then `Why:`, `Fix:` and `Source:`."""
    try:
        tree = ast.parse((files.read(path) or b"").decode())
    except (SyntaxError, ValueError) as error:
        raise TrainyardError(f"policy {path.name} cannot be imported: {error}") from error
    severity = Severity.WARNING if is_warning(tree) else Severity.ERROR
    return of_docstring(path, ast.get_docstring(tree, clean=False), severity)


def of_docstring(path: Path, text: str | None, severity: Severity) -> Rule:
    """Return the rule that a Python policy is, given what its module says of itself."""
    text = text or ""
    said = {name: section(text, title) for title, name in SECTIONS.items()}
    missing = [title for title, name in SECTIONS.items() if not said[name]]
    if missing:
        raise TrainyardError(f"policy {path.name} has no '{missing[0]}:' in its docstring")
    title = text.strip().splitlines()[0].rstrip(".")
    return of_policy(policy_id(path), title, said["why"], said["fix"], said["source"], severity)


def of_policy(id_: str, title: str, why: str, fix: str, source: str, severity: Severity) -> Rule:
    """Return a policy's rule, which may be waived whatever it weighs."""
    return Rule(id_, f"{title.rstrip('.')}.", why.rstrip("."), fix, source, "policy", severity, may_waive=True)


def is_warning(tree: ast.Module) -> bool:
    """Say whether a module sets `SEVERITY = Severity.WARNING`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "SEVERITY":
            return isinstance(node.value, ast.Attribute) and node.value.attr == "WARNING"
    return False


def section(text: str, name: str) -> str:
    """Return what follows a word and a colon in a docstring, up to the next such word."""
    found = re.search(rf"^{name}: (.*?)(?=^\w+: |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return " ".join(found.group(1).split()).rstrip(".") if found else ""
