"""Every rule that Trainyard knows: those declared beside their checks, a plug-in's too, and the policies'."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from trainyard.base.documents import Document, load
from trainyard.base.errors import PolicyError
from trainyard.base.findings import Severity, did_you_mean
from trainyard.base.labels import OURS
from trainyard.base.memory import Memory, World
from trainyard.base.rules import Rule
from trainyard.base.system import cache as cached
from trainyard.base.system import files, reads
from trainyard.base.system.data import PACKAGE, policy_files, policy_id
from trainyard.base.system.registry import GROUPS, added_entry_points

POLICY = "ValidatingAdmissionPolicy"
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

    Raises PolicyError for a policy that cannot be read.
    """
    found: dict[str, Entry] = dict(declared_rules())
    for path in policy_files(root):
        rule, file = policy(path), f"policies/{path.name}"
        before = found.get(rule.id, Entry(rule, ()))
        sources = tuple(dict.fromkeys((*before.sources, rule.source)))
        found[rule.id] = Entry(rule, sources, (*before.declared, file))
    return dict(sorted(found.items()))


def kept_entries(root: Path | None = None) -> Mapping[str, Entry]:
    """Return all rules as `entries` does, from the user's cache where nothing they follow from has changed.

    To import every module that declares a rule takes a second.
    """
    memory = Memory(cached.private("catalogue", outside=root), World())
    rows: list[Any] = memory.remember(
        lambda: [(asdict(entry.rule), entry.sources, entry.declared) for entry in entries(root).values()], str(root)
    )
    rules = [from_row(rule) for rule, _, _ in rows]
    return {
        rule.id: Entry(rule, tuple(sources), tuple(declared))
        for rule, (_, sources, declared) in zip(rules, rows, strict=True)
    }


def from_row(row: Mapping[str, Any]) -> Rule:
    """Return the rule that was kept as the values of its fields."""
    return Rule(**{**row, "severity": Severity(row["severity"])})


def rule_of(id_: str, policies: Iterable[Path], root: Path | None = None) -> Rule | None:
    """Return the rule of an id as `entries` does, None where there is none; only what names the id is read.

    `policies` are the files of all policies, Trainyard's own among them. What modules declare is remembered, but not
    in the repository of the folder `root`. Rules of one id may differ in their source.

    Raises PolicyError for a policy of that id that cannot be read.
    """
    named = (path for path in policies if policy_id(path) == id_.replace("_", "-"))
    of_policies = [rule for rule in map(policy, named) if rule.id == id_]
    if of_policies:
        return of_policies[-1]
    with reads.apart():  # whoever remembers what follows from a rule remembers our code with it
        row = memory_of(root).remember(lambda: asdict(rule) if (rule := declared_rule(id_)) else None, "rule", id_)
    return from_row(row) if row else None


@cache
def memory_of(root: Path | None) -> Memory:
    """Return the memory of rules, kept outside of the repository of a folder; our code is looked at once."""
    return Memory(cached.private("catalogue", outside=root), World())


def declared_rule(id_: str) -> Rule | None:
    """Return the rule that a module declares under an id; modules that were imported already are asked first."""
    if (loaded := loaded_rules().get(id_)) is not None:
        return loaded
    word = id_.encode("utf-8", "surrogatepass")
    for path in (path for path, text in sources() if word in text):
        for rule in of_module(module_of(path)):
            if rule.id == id_:
                return rule
    entry = declared_rules().get(id_)
    return entry.rule if entry else None


LOADED: dict[str, tuple[Rule, ...]] = {}
"""The rules of modules that were looked through already."""


def loaded_rules() -> Mapping[str, Rule]:
    """Return the rules of the modules of ours that were imported already, by id; each module is looked through once."""
    names = [name for name in sorted(sys.modules) if name.partition(".")[0] == PACKAGE.name]
    LOADED.update((name, tuple(of_module(sys.modules[name]))) for name in names if name not in LOADED)
    return {rule.id: rule for name in names for rule in LOADED[name]}


@cache
def declared_rules() -> Mapping[str, Entry]:
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
    for path, _ in sources():
        yield module_of(path)
    for group in GROUPS:
        for entry in added_entry_points(group):
            entry.load()
            yield sys.modules[entry.module]


@cache
def sources() -> tuple[tuple[Path, bytes], ...]:
    """Return the files of our modules that declare rules, each with its text, found by one walk of the package."""
    texts = ((path, path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py")))
    maybe = ((path, text) for path, text in texts if b"Rule(" in text or b".of_source(" in text)  # a tenth of the time
    return tuple((path, text) for path, text in maybe if re.search(rb"\bRule\(|\.of_source\(", text))


def module_of(path: Path) -> ModuleType:
    """Return the module in a file of ours, imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def of_module(module: ModuleType) -> Iterator[Rule]:
    """Yield the rules that a module has under names of its own, or in maps and tuples under such a name."""
    for value in vars(module).values():
        yield from rules_in(value)


def rules_in(value: Any) -> Iterator[Rule]:
    """Yield a rule, or the rules that a map or a tuple holds."""
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Mapping):
        yield from (rule for rule in value.values() if isinstance(rule, Rule))
    elif isinstance(value, tuple):
        yield from (rule for rule in value if isinstance(rule, Rule))


def policy(path: Path) -> Rule:
    """Return the rule that a policy's file is, without running it.

    Raises PolicyError where the file cannot be read or does not say what every rule says.
    """
    return of_python(path) if path.suffix == ".py" else of_cel(path)


def of_cel(path: Path) -> Rule:
    """Return the rule that a ValidatingAdmissionPolicy is; its annotations carry what people are told."""
    document = document_of(path)
    value, at = document.value, document.location
    if value.get("kind") != POLICY:
        place = at(("kind",))
        message = f"kind is {value.get('kind')!r}, but must be {POLICY!r}"
        raise PolicyError(path.name, message, place.line or 1, place.column or 1)
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if metadata.get("name") != path.stem:
        place = at(("metadata", "name"))
        message = f"the policy's name is {metadata.get('name')!r}, but must be the file's name, {path.stem!r}"
        raise PolicyError(path.name, message, place.line or 1, place.column or 1)
    notes = metadata.get("annotations")
    notes = notes if isinstance(notes, dict) else {}
    said = {name: str(notes.get(f"{OURS}/{name}") or "") for name in TEXTS}
    missing = [name for name, text in said.items() if not text]
    place = at(("metadata", "annotations"))
    if missing:
        message = f"the policy has no annotation {OURS}/{missing[0]}; add it"
        raise PolicyError(path.name, message, place.line or 1, place.column or 1)
    severity = str(notes.get(f"{OURS}/severity", "error"))
    if severity not in set(Severity):
        message = f"{OURS}/severity is {severity!r}; {did_you_mean(severity, [level.value for level in Severity])}"
        raise PolicyError(path.name, message, place.line or 1, place.column or 1)
    waivable = str(notes.get(f"{OURS}/waivable", "true"))
    if waivable not in {"true", "false"}:
        message = f"{OURS}/waivable is {waivable!r}, but must be 'true' or 'false'"
        raise PolicyError(path.name, message, place.line or 1, place.column or 1)
    rule = of_policy(path.stem, said["title"], said["reason"], said["fix"], said["source"], Severity(severity))
    return replace(rule, may_waive=waivable == "true")


def document_of(path: Path) -> Document:
    """Return the one document of a policy's file, a map."""
    documents, findings = load(files.read_installed(path) or b"", file=path.name)
    if findings:
        place = findings[0].location
        raise PolicyError(path.name, findings[0].message, place.line or 1, place.column or 1)
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        place = documents[-1].location()
        message = f"a policy's file must contain only one {POLICY}"
        raise PolicyError(path.name, message, place.line or 1, place.column or 1)
    return documents[0]


def of_python(path: Path) -> Rule:
    """Return the rule that a Python policy is; its docstring has the title, then `Why:`, `Fix:` and `Source:`."""
    try:
        tree = ast.parse((files.read_installed(path) or b"").decode())
    except SyntaxError as error:
        message = f"not valid Python: {error.msg}"
        raise PolicyError(path.name, message, error.lineno or 1, error.offset or 1) from error
    except ValueError as error:
        raise PolicyError(path.name, f"not valid Python: {error}") from error
    severity = Severity.WARNING if sets(tree, "SEVERITY", "Severity.WARNING") else Severity.ERROR
    rule = of_docstring(path, ast.get_docstring(tree, clean=False), severity)
    return replace(rule, may_waive=not sets(tree, "WAIVABLE", "False"))


def of_docstring(path: Path, text: str | None, severity: Severity) -> Rule:
    """Return the rule that a Python policy is, given what its module says of itself."""
    text = text or ""
    said = {name: section(text, title) for title, name in SECTIONS.items()}
    missing = [title for title, name in SECTIONS.items() if not said[name]]
    if missing:
        raise PolicyError(path.name, f"the policy's docstring has no '{missing[0]}:'; add it")
    title = text.strip().splitlines()[0].rstrip(".")
    return of_policy(policy_id(path), title, said["why"], said["fix"], said["source"], severity)


def of_policy(id_: str, title: str, why: str, fix: str, source: str, severity: Severity) -> Rule:
    """Return a policy's rule, which may be waived whatever it weighs, unless it says otherwise."""
    return Rule(id_, f"{title.rstrip('.')}.", why.rstrip("."), fix, source, "policy", severity, may_waive=True)


def sets(tree: ast.Module, name: str, text: str) -> bool:
    """Say whether a module sets a name of its own to what is written as `text`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.unparse(node.value) == text
    return False


def section(text: str, name: str) -> str:
    """Return the text behind a word and a colon in a docstring, up to the next such word."""
    found = re.search(rf"^{name}: (.*?)(?=^\w+: |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return " ".join(found.group(1).split()).rstrip(".") if found else ""
