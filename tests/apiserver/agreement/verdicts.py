"""What we say of a case, what a server says of it, and how the two are counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.errors import ToolError
from trainyard.base.findings import Severity
from trainyard.faces.live.server import Answer, Server
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Catalog, Judge, Missing


@dataclass(frozen=True, slots=True)
class Case:
    """An object, or the text of one, or a change to one."""

    object: dict[str, Any]
    note: str = ""
    old: dict[str, Any] | None = None
    text: str | None = None

    @property
    def source(self) -> bytes:
        """The case as the file that is judged."""
        return (self.text if self.text is not None else json.dumps(self.object)).encode()


@dataclass(frozen=True, slots=True)
class Ours:
    """Our verdict: valid or not, the layer that decided, and its sentence."""

    valid: bool
    layer: str = ""
    reason: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Theirs:
    """A server's verdict; `told` is false where it says nothing about the object."""

    valid: bool
    told: bool = True
    reason: str = ""
    by: str = ""


def ours(case: Case, known: Catalog) -> Ours:
    """Judge a case as `trainyard validate` does, without policies; what controllers do later no dry run says."""
    judge = Judge(known, refused_later=Severity.WARNING)
    manifests, findings = decode("case.yaml", case.source)
    for manifest in manifests:
        findings += judge.judge(manifest, old=case.old).findings
    for finding in findings:
        if finding.is_error:
            return Ours(False, finding.layer, f"{finding.path}: {finding.message}", finding.rule)
    return Ours(bool(manifests), "", "")


def theirs(case: Case, known: Catalog, server: Server) -> Theirs:
    """Ask a server; where it breaks the connection off, as it does when its own code panics, it has said nothing."""
    try:
        return asked(case, known, server)
    except ToolError as error:
        return Theirs(False, told=False, reason=str(error))


def asked(case: Case, known: Catalog, server: Server) -> Theirs:
    """Ask a server: what either create or apply refuses is invalid; a change is applied over what was before."""
    value = sent(case.object)
    group, _, version = str(value.get("apiVersion", "")).rpartition("/")
    kind = known.lookup(group, version, str(value.get("kind")))
    if isinstance(kind, Missing):
        return Theirs(False, reason=kind.message, by="discovery")
    if case.old is not None:
        made = server.apply(case.old, kind, dry_run=False)
        if not made.accepted:
            return Theirs(False, told=False, reason=made.message)
        try:
            return verdict(apply=server.apply(value, kind))
        finally:
            server.delete(case.old, kind)
    answers = {"create": server.create(value, kind)}
    given = value.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    name = metadata.get("name")
    if isinstance(name, str) and name.strip("."):
        answers["apply"] = server.apply(value, kind)
    elif not name and not metadata.get("generateName"):
        answers["apply"] = NAMELESS
    return verdict(**answers)


NAMELESS = Answer(405, "MethodNotAllowed", "metadata.name: Required value: what has no name cannot be applied")
"""What becomes of an object without a name, even one that the server would name if it were created."""


def sent(value: Any) -> Any:
    """Return a value as kubectl sends it: a number without a fraction is written as an integer."""
    if isinstance(value, dict):
        return {key: sent(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [sent(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def verdict(**answers: Answer) -> Theirs:
    """Put the answers to one object together."""
    refused = {how: answer for how, answer in answers.items() if not answer.accepted}
    told = [item for item in refused.values() if item.concerns_object and not ELSEWHERE.search(item.message)]
    if not refused:
        return Theirs(True)
    first = (told or list(refused.values()))[0]
    by = "both" if len(refused) == len(answers) else next(iter(refused))
    return Theirs(False, told=bool(told), reason=f"{first.code} {first.message}", by=by)


ELSEWHERE = re.compile(
    r"already (?:exists|allocated)"
    r"|RuntimeClass \"[^\"]*\" not found|looking up service account|no PriorityClass with name"
    r"|on the containing namespace|namespaces \"[^\"]*\" not found"
)
"""What a server says of other objects, not of this one."""


def layer_of(reason: str, known: Catalog, value: dict[str, Any]) -> str:
    """Tell from a server's words which of our layers should have refused an object."""
    if "admission webhook" in reason or "denied request" in reason:
        return "webhook"
    if re.search(
        r"strict decoding|json:|typed patch|unmarshal|parsing|quantities must|decod|must be of type|unknown field",
        reason,
    ):
        return "schema"
    if "metadata." in reason:
        return "meta"
    group, _, version = str(value.get("apiVersion", "")).rpartition("/")
    kind = known.lookup(group, version, str(value.get("kind")))
    if not isinstance(kind, Missing) and kind.typed:
        return "core"
    shape = (
        r"in body should|Required value$|Required value,|Unsupported value|Duplicate value|Too (long|many)|in body must"
    )
    return "schema" if re.search(shape, reason) else "cel"


@dataclass
class Table:
    """Counts of both verdicts, by layer and by kind."""

    known: Catalog
    layers: dict[str, Counter[str]] = field(default_factory=dict)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    differences: list[tuple[str, Case, Ours, Theirs]] = field(default_factory=list)
    silent: int = 0

    def add(self, case: Case, mine: Ours, real: Theirs) -> None:
        """Count one case; a server that says nothing about the object is not counted."""
        if not real.told:
            self.silent += 1
            return
        cell = CELLS[mine.valid, real.valid]
        layer = layer_of(real.reason, self.known, case.object) if not real.valid else mine.layer or "none"
        if case.old is not None and layer != "none":
            layer = f"{layer} (update)"
        kind = f"{case.object.get('apiVersion')} {case.object.get('kind')}"
        self.layers.setdefault(layer, Counter())[cell] += 1
        self.kinds.setdefault(kind, Counter())[cell] += 1
        if mine.valid != real.valid:
            self.differences.append((cell, case, mine, real))

    @property
    def total(self) -> Counter[str]:
        """The counts of all cases."""
        return sum(self.layers.values(), Counter())

    def text(self, *, by_kind: bool = True) -> str:
        """Return the table as a person reads it."""
        lines = [HEAD.format("layer", *COLUMNS)]
        lines += [row(name, counts) for name, counts in sorted(self.layers.items())]
        if by_kind:
            lines += ["", HEAD.format("kind", *COLUMNS)]
            lines += [row(name, counts) for name, counts in sorted(self.kinds.items())]
        lines += ["", row("all", self.total), self.rates()]
        return "\n".join(lines)

    def worst(self) -> float:
        """Return the larger share of wrong verdicts, among the invalid and among the valid."""
        counts = self.total
        accepts = counts["false accept"] / max(1, counts["refused"] + counts["false accept"])
        return max(accepts, counts["false reject"] / max(1, counts["accepted"] + counts["false reject"]))

    def rates(self) -> str:
        """Return the shares of wrong verdicts in words."""
        counts = self.total
        invalid = counts["refused"] + counts["false accept"]
        valid = counts["accepted"] + counts["false reject"]
        return (
            f"{counts['false accept']} of {invalid} invalid accepted ({share(counts['false accept'], invalid)}), "
            f"{counts['false reject']} of {valid} valid refused ({share(counts['false reject'], valid)}); "
            f"{self.silent} without a verdict of the server"
        )


COLUMNS = ("accepted", "refused", "false accept", "false reject")
CELLS = {
    (True, True): "accepted",
    (False, False): "refused",
    (True, False): "false accept",
    (False, True): "false reject",
}
"""By our verdict and the server's."""
HEAD = "{:<60} {:>9} {:>9} {:>13} {:>13}"


def row(name: str, counts: Counter[str]) -> str:
    """Return one line of the table."""
    return HEAD.format(name, *(counts[column] for column in COLUMNS))


def share(part: int, whole: int) -> str:
    """Return a share in per cent."""
    return f"{100 * part / whole:.2f} %" if whole else "none"


def tabulate(rows: Iterable[tuple[Case, Ours, Theirs]], known: Catalog) -> Table:
    """Count cases."""
    table = Table(known)
    for one_row in rows:
        table.add(*one_row)
    return table
