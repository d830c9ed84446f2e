"""The page on rules: a section for each, with what the cases of its tests show as wrong and as right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from trainyard.base import catalogue
from trainyard.base.catalogue import Entry
from trainyard.base.findings import Layer, Severity

LAYERS: Mapping[Layer, str] = {
    "spec": "Specs: jobs, teams, clusters and the repository",
    "run": "The generated tree and the runs in it",
    "pairing": "Operators, Kubernetes and each other",
    "values": "Values of charts",
    "queueing": "Kueue's decision",
    "node": "The kubelet's decision",
    "decode": "Reading a file",
    "schema": "Schemas of kinds",
    "meta": "Metadata",
    "core": "Kubernetes' own checks",
    "cel": "Rules in CEL",
    "webhook": "Webhooks and controllers of operators",
    "update": "Changes of objects that exist",
    "policy": "Policies, and Pod Security",
}
"""A chapter for each layer."""

SPECS = re.compile(r"^(?P<file>\S+):(?P<line>\d+):\d+ (?P<rule>\S+)\n  (?P<message>.+)$", re.MULTILINE)
POLICIES = re.compile(r"^\S+:(?P<line>\d+):\d+: (?:error|warning): (?P<message>.+) \[(?P<rule>\S+)\]$", re.MULTILINE)
MARK = re.compile(r" *# BAD$", re.MULTILINE)

HEAD = """\
Every finding ends with the id of its rule, and `trainyard rule <id>` prints one of these sections. `make docs` writes
them from the rules and the cases of their tests.

To accept a finding, add `waive: {<id>: <reason>}` to the file that it is about: [a job](jobs.md#accepting-a-finding)
or [another spec](clusters.md#accepting-a-finding). Warnings may be waived and errors may not, unless the section says
otherwise."""

LONGEST = 24
"""Lines of an object that is an example; the head of a Ray cluster is longer, and says nothing."""


def page(root: Path) -> Iterator[str]:
    """Yield the lines of the page on rules."""
    known, examples = catalogue.entries(), {**of_specs(root), **of_policies(root)}
    yield from ("# Rules", "")
    yield HEAD
    yield ""
    yield from (f"- [{title}](#{anchor(title)}): {len(some)}" for title, some in chapters(known.values()))
    for title, some in chapters(known.values()):
        yield from ("", f"## {title}")
        usual = usual_why(some)
        if usual:
            yield from ("", f"Unless the section says otherwise: {usual.rstrip('.')}.")
        for entry in some:
            why = entry.rule.why if entry.rule.why != usual else ""
            yield from ("", f"### {entry.rule.id}", "", *section(entry, why), *examples.get(entry.rule.id, ()))


def chapters(entries: Iterable[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield each chapter that has rules, with them."""
    known = list(entries)
    for layer, title in LAYERS.items():
        if some := [entry for entry in known if entry.rule.layer == layer]:
            yield title, some


def anchor(title: str) -> str:
    """Return the anchor that GitHub, GitLab and the site make of a heading."""
    return re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-")


def usual_why(entries: Iterable[Entry]) -> str:
    """Return the reason that most rules of a chapter share, empty where they share none."""
    reasons = Counter(entry.rule.why for entry in entries)
    why, count = reasons.most_common(1)[0]
    return why if 2 * count > reasons.total() > 1 else ""


def section(entry: Entry, why: str) -> Iterator[str]:
    """Yield the lines about one rule; `why` is empty where the chapter gives the reason."""
    rule = entry.rule
    weight = f"{rule.severity.value.capitalize()}{' or warning' if rule.may_warn else ''}"
    if rule.warns != rule.waivable or (rule.may_waive and rule.severity is Severity.ERROR):
        weight += ", may be waived" if rule.waivable else ", cannot be waived"
    yield f"{weight}. **{plain(rule.title)}**"
    yield from ("", plain(sentence(why))) if why else ()
    yield from (("", f"- Fix: {plain(rule.fix)}.") if rule.fix else ("",))
    yield f"- Source: {'; '.join(entry.sources)}."


def plain(text: str) -> str:
    """Return a text whose placeholders, such as <name>, are no tags of HTML."""
    return re.sub(r"<(?=\w)", r"\\<", text)


def sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def of_specs(root: Path) -> dict[str, list[str]]:
    """Return an example for each rule that the broken specs of the tests meet: the line, and what is said of it."""
    found: dict[str, list[str]] = {}
    for report in sorted((root / "tests" / "specs").glob("*.txt")):
        path = report.with_suffix(".yaml")
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        lines = text.splitlines()
        for match in SPECS.finditer(report.read_text("utf-8")):
            line = lines[int(match["line"]) - 1].strip() if int(match["line"]) <= len(lines) else ""
            if match["file"].startswith(place(text)) and line and line.isprintable() and not line.startswith("#"):
                said = ("", "Wrong:", "", "```yaml", line, "```", "", f"> {quoted(match['message'])}")
                found.setdefault(match["rule"], list(said))
    return found


def place(text: str) -> str:
    """Return where in a repository a broken spec of the tests stands, by what is in it."""
    for field, folder in (("pools:", "platform/clusters/"), ("group:", "platform/teams/"), ("live:", "platform/repo")):
        if re.search(rf"^{field}", text, re.MULTILINE):
            return folder
    return "jobs/nlp/train.yaml"


def of_policies(root: Path) -> dict[str, list[str]]:
    """Return an example for each policy: an object that it finds wrong, what is said of it, and one that is right."""
    found: dict[str, list[str]] = {}
    for report in sorted((root / "tests" / "policies").glob("*.txt")):
        text = report.with_suffix(".yaml").read_text("utf-8")
        objects = [(part, text[:at].count("\n") + 1) for part, at in parts(text)]
        for match in POLICIES.finditer(report.read_text("utf-8")):
            wrong = next(part for part, first in reversed(objects) if first <= int(match["line"]))
            if match["rule"] not in found and len(wrong.splitlines()) <= LONGEST:
                right = (part for part, _ in objects if not MARK.search(part) and kind(part) == kind(wrong))
                found[match["rule"]] = list(example(wrong, match["message"], next(right, None)))
    return found


def parts(text: str) -> Iterator[tuple[str, int]]:
    """Yield the documents of a stream, each with where it begins."""
    at = 0
    for part in text.split("\n---\n"):
        yield part, at
        at += len(part) + len("\n---\n")


def kind(part: str) -> str:
    """Return the kind of an object, where it stands on a line of its own."""
    found = re.search(r"^kind: (\w+)$", part, re.MULTILINE)
    return found[1] if found else part


def example(wrong: str, message: str, right: str | None) -> Iterator[str]:
    """Yield an object that is wrong, the message about it, and one that is right."""
    yield from (
        "",
        "Wrong:",
        "",
        "```yaml",
        *shown_lines(MARK.sub("  # here", wrong)),
        "```",
        "",
        f"> {quoted(message)}",
    )
    if right is not None and len(right.splitlines()) <= LONGEST:
        yield from ("", "Right:", "", "```yaml", *shown_lines(right), "```")


def shown_lines(part: str) -> list[str]:
    """Return the lines of an object without the comments before it."""
    return [line for line in part.strip("\n").splitlines() if not line.startswith("#")]


def quoted(message: str) -> str:
    """Return a message as Markdown takes it."""
    return re.sub(r"([*_<>\[\]`|])", r"\\\1", message)
