"""What a check reports: a finding has a rule, a place, one sentence and, where there is one, the fix."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from trainyard.base.limits import NAME_LETTERS, NAMES

Layer = Literal[
    "spec",
    "run",
    "pairing",
    "values",
    "decode",
    "schema",
    "meta",
    "core",
    "cel",
    "webhook",
    "policy",
    "update",
    "queueing",
    "node",
]


Path = tuple[str | int, ...]
"""Where a field is: keys of maps and indices of lists, from the root of a document."""

PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")


class Severity(StrEnum):
    """How much a finding weighs: an error fails the run, a warning fails it under `--strict` only."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; lines and columns count from 1, documents of a stream from 0."""

    file: str
    line: int | None = None
    column: int | None = None
    document: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Which Kubernetes object a finding is about."""

    api_version: str
    kind: str
    namespace: str | None
    name: str

    def __str__(self) -> str:
        kind = self.kind or "object"
        if not self.name:
            return f"unnamed {kind}"
        return f"{kind} {self.namespace}/{self.name}" if self.namespace else f"{kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: which rule, where, in one sentence, and what to do.

    `path` is the field in the document (`spec.template.spec.containers[0].image`); `spec` is the line a person
    should edit when the file is generated; `source` names the upstream file and release that the rule mirrors;
    `frozen` marks a finding on a run that exists at the base and that this change does not cause. `fix` is the nearest
    change that would pass here; `remedy` is what its rule says helps in general, for reports that have room for it;
    `hide` says that what stands there is for nobody's eyes, so that no report shows the line. `cause` is where the
    finding stands that this one follows from, below which reports fold it; `blocks` names the jobs that cannot be
    checked because of this finding, though nothing was found in them. `shared` are the other fields with which this
    one does not go together: where a change touched one of those, the finding stands there.
    """

    rule: str
    layer: Layer
    message: str
    location: Location
    severity: Severity = Severity.ERROR
    object: ObjectRef | None = None
    path: str | None = None
    spec: Location | None = None
    fix: str | None = None
    source: str | None = None
    frozen: bool = False
    remedy: str | None = None
    hide: bool = False
    cause: Location | None = None
    blocks: tuple[str, ...] = ()
    shared: tuple[tuple[str, Location], ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether the finding alone makes the run fail."""
        return self.severity is Severity.ERROR

    @property
    def full_message(self) -> str:
        """The message with the whole path of its field, for reports without a place in a file."""
        if self.path is None:
            return self.message
        field, space, rest = self.message.partition(" ")
        return f"{self.path}{space}{rest}" if self.path.endswith(field) else f"{self.path}: {self.message}"

    @property
    def order(self) -> tuple[int, str, int, int, int, str, str]:
        """Sort key: the platform before jobs, then by file, document and place, then by rule: the same on every run.

        An object that is rendered from a file of the platform is told with those.
        """
        where, first = self.location, rank(self.location.file)
        if self.spec is not None and (of_spec := rank(self.spec.file)) <= OWN:
            first = min(first, of_spec)
        place = (where.file, where.document or 0, where.line or 0, where.column or 0)
        return (first, *place, self.rule, self.message)


def finding_from(value: Mapping[str, Any]) -> Finding:
    """Return a finding from its fields as JSON has them, which `dataclasses.asdict` makes of one."""
    places = {name: Location(**value[name]) for name in ("location", "spec", "cause") if value[name]}
    ref = {"object": ObjectRef(**value["object"])} if value["object"] else {}
    shared = tuple((path, Location(**place)) for path, place in value["shared"])
    more = {"severity": Severity(value["severity"]), "blocks": tuple(value["blocks"]), "shared": shared}
    return Finding(**{**value, **places, **ref, **more})


RANKS = re.compile(
    r"(?:^|.*?/)(?:(platform/repository\.yaml$)|(platform/clusters/)|(platform/teams/)|(platform/extra/)|(jobs/)|(generated(?:/|$)))"
)
"""What others follow from comes first: settings, clusters, teams, objects of one's own, jobs, what is rendered."""

PLATFORM = 3
"""The rank up to which files are no job's, so that mistakes in them may be the cause of others."""

OWN = PLATFORM + 1
"""The rank of objects of the repository's own."""


def rank(file: str) -> int:
    """Return how early findings in a file are told: the platform's files before jobs, and those before `generated/`."""
    found = RANKS.match(file)
    return found.lastindex or 0 if found else PLATFORM + 1


def arrange(findings: Iterable[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Return findings in their order, each with those that follow from it.

    A finding whose cause is not among them stands for itself.
    """
    found = sorted(findings, key=lambda finding: finding.order)
    roots = {finding.location: finding for finding in reversed(found) if finding.cause is None}
    below: dict[int, list[Finding]] = {}
    for finding in found:
        if finding.cause is not None and finding.cause in roots:
            below.setdefault(id(roots[finding.cause]), []).append(finding)
    alone = (finding for finding in found if finding.cause is None or finding.cause not in roots)
    return [(finding, below.get(id(finding), [])) for finding in alone]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that could not run, and what it lacked."""

    rule: str
    why: str
    partial: bool = False
    """Whether it lacked what the files do not say, such as the rest of a cluster, or nothing is amiss.

    Texts show it only on request.
    """


def format_path(path: Path) -> str:
    """Write a path as a field: `spec.containers[0].resources.limits["nvidia.com/gpu"]`."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        elif PLAIN_KEY.fullmatch(part):
            out += f".{part}" if out else part
        else:
            out += '["' + part.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    return out


PART = re.compile(r"""\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.\[\]]+)""")


def parse_path(text: str) -> Path:
    """Return the path that a field is written as.

    >>> parse_path('spec.containers[0].limits["nvidia.com/gpu"]')
    ('spec', 'containers', 0, 'limits', 'nvidia.com/gpu')
    """
    return tuple(
        int(index) if index else re.sub(r"\\(.)", r"\1", quoted) if quoted else key
        for index, quoted, key in PART.findall(text)
    )


def without_indexes(message: str) -> str:
    """Return a message without the places of entries in lists, by which equal findings differ.

    >>> without_indexes("env[3].name is required")
    'env[].name is required'
    """
    return re.sub(r"\[\d+\]", "[]", message)


NUMBER = re.compile(r"v?[0-9.]+")
"""A number or a release, whose neighbours are no nearer for sharing its digits."""

BEGUN = 3
"""Letters of which the one name that begins with them is taken to be meant, as `gpus` for `gpusPerNode`."""


def count_of(count: int, one: str, many: str = "") -> str:
    """Return a number of things, of which one is called otherwise than several."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def did_you_mean(word: str, choices: Iterable[str], *, limit: int = 8) -> str:
    """Name the nearest choice, or else list what there is, as the second half of a sentence.

    >>> did_you_mean("torchrn", ["torchrun", "mpirun"])
    "did you mean 'torchrun'?"
    >>> did_you_mean("research", ["batch", "prod"])
    'there are: batch, prod'
    >>> did_you_mean("gpus", ["gpu", "gpusPerNode"])
    "did you mean 'gpusPerNode'?"
    >>> did_you_mean("1.33", ["1.34", "1.36"])
    'there are: 1.34, 1.36'
    """
    names = sorted(set(choices))
    if len(word) > NAME_LETTERS or len(names) > NAMES or NUMBER.fullmatch(word):
        return choices_text(names, limit)
    begun = [name for name in names if len(word) >= BEGUN and name.startswith(word)]
    near = begun if len(begun) == 1 else difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if not near:
        near = [name for name in names if name.lower() == word.lower()]
    if near:
        return f"did you mean {near[0]!r}?"
    return choices_text(names, limit)


def choices_text(names: Sequence[str], limit: int) -> str:
    """Return the names that exist, as the second half of a sentence."""
    if not names:
        return "there are none"
    shown = ", ".join(names[:limit])
    return f"there are: {shown}" + (f" and {len(names) - limit} more" if len(names) > limit else "")
