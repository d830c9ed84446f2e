"""Pages on the fields of specs, made from the models: what each takes, what it is by default, and what it means."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo
from pydantic.functional_validators import AfterValidator
from pydantic_core import PydanticUndefined
from typing_extensions import is_typeddict

from trainyard.specs import Cluster, Job, Repository, Spec, Team
from trainyard.specs.models.base import MOST, Form, docstrings

MODELS: Mapping[str, tuple[type[Spec], str]] = {
    "job": (Job, "`jobs/<team>/<job>.yaml`; [Jobs](../jobs.md) is the guide."),
    "cluster": (Cluster, "`platform/clusters/<name>.yaml`; [Clusters](../clusters.md) is the guide."),
    "team": (Team, "`platform/teams/<name>.yaml`; [Teams](../teams.md) is the guide."),
    "repository": (Repository, "`platform/repository.yaml`; [Adopting](../adopting.md) is the guide."),
}

GUIDES: Mapping[str, str] = {
    "job.launcher": "launchers.md",
    "job.kind": "launchers.md",
    "job.runtime": "launchers.md#trainjob",
    "job.command": "launchers.md#exec",
    "job.roles": "jobs.md#roles",
    "job.array": "jobs.md#arrays",
    "job.after": "pipelines.md",
    "job.scratch": "jobs.md#local-disk",
    "job.gpu": "jobs.md#parts-of-a-gpu",
    "job.fabric": "jobs.md#the-fast-network",
    "job.secrets": "secrets.md",
    "job.envFrom": "jobs.md#secrets-and-files",
    "job.mounts": "jobs.md#secrets-and-files",
    "job.checkpoint": "jobs.md#checkpoints-data-and-time",
    "job.data": "jobs.md#checkpoints-data-and-time",
    "job.minNodes": "failures.md#jobs-that-shrink",
    "job.spot": "failures.md#spot-nodes",
    "job.restarts": "failures.md#how-often-a-run-starts-again",
    "job.containers": "jobs.md#beside-the-program",
    "job.runAsUser": "jobs.md#who-a-program-is",
    "job.patches": "jobs.md#the-way-out",
    "job.run": "jobs.md#a-runs-name",
    "job.retired": "jobs.md#a-runs-name",
    "job.waive": "jobs.md#accepting-a-finding",
    "cluster.argocd": "argocd.md#pointing-argo-cd-at-a-cluster",
    "cluster.pools": "pools.md",
    "cluster.pools.nodes": "pools.md#nodes-that-come-and-go",
    "cluster.pools.scaling": "pools.md#nodes-that-come-and-go",
    "cluster.pools.shape": "reference/shapes.md",
    "cluster.pools.mig": "pools.md#parts-of-gpus",
    "cluster.pools.localDisks": "pools.md#local-disks",
    "cluster.pools.deviceAccess": "pools.md#who-may-open-gpus",
    "cluster.pools.daemons": "pools.md#daemons",
    "cluster.pools.nvlink": "pools.md#nvlink-beyond-a-node",
    "cluster.system": "pools.md#nodes",
    "cluster.fabric": "fabric.md",
    "cluster.storage": "clusters.md#storage",
    "cluster.drivers": "storage.md",
    "cluster.operators": "reference/releases.md",
    "cluster.queues": "clusters.md#queues-and-quota",
    "cluster.gang": "clusters.md#gangs-on-nodes-that-are-not-labelled",
    "cluster.pipelines": "pipelines.md",
    "cluster.recoveryMinutes": "failures.md#jobs-that-shrink",
    "cluster.waive": "clusters.md#accepting-a-finding",
    "team.python": "jobs.md#sweeps",
    "repository.live": "adopting.md#going-live",
}
"""Where a guide says more about a field than its row."""

CHANGED: Mapping[str, str] = {
    "quantity": "[quantity](#forms)",
    "byte_count": "[bytes](#forms)",
    "room": "[bytes](#forms)",
    "speed": "[bytes](#forms) per second",
    "number": "number",
    "hours": "number of hours",
    "variable_value": "text or whole number",
    "ports": 'port, such as `9000`, `"30000-30100"` or `"4567/UDP"`',
    "no_capability": "",
}
"""What is written where a validator makes a value of it; empty where it stays what it is."""

REFINED: Mapping[str, str] = {
    "network": "range of addresses, such as `10.0.0.0/16`",
    "cpu_list": "list of CPUs, such as `0-3,64-67`",
    "safe_path": "relative path",
}
"""What is written where a validator says more than the type."""

SHORT: Mapping[str, str] = {
    "lower-case letters, digits and inner '-'": "[name](#forms)",
    "lower-case letters, digits and inner '-' or '.'": "[name with dots](#forms)",
    "the id of a rule, as in brackets after a finding": "[rule](../rules.md)",
    "letters, digits and '_', not starting with a digit": "[variable](#forms)",
    "registry/path@sha256: and 64 hex digits": "[image](#forms)",
}
"""Forms that stand at the head of a page, by what they should be."""

FORMS = (
    "*Name*: lower-case letters, digits and inner `-`, at most 63 characters; *with dots*, also inner `.`, at most 253."
    " *Variable*: letters, digits and `_`, not starting with a digit. *Image*: `registry/path@sha256:` and 64 hex"
    " digits. *Bytes* and *quantities* are Kubernetes': `16Gi`, `500m`. Whole numbers go up to 2147483647 unless a row"
    " says otherwise. Releases are in quotes."
)


@dataclass(frozen=True, slots=True)
class Part:
    """A model with the path of the field that it is below, of which the last names the section."""

    path: tuple[str, ...]
    model: type[Any]


def page(name: str) -> Iterator[str]:
    """Yield the lines of the page on one kind of spec."""
    model, where = MODELS[name]
    yield from (f"# Fields of a {name}", "")
    yield f"{where} `make docs` writes this page from the models. Editors complete and check the same fields"
    yield f"with `schemas/trainyard/{name}.json`."
    parts = list(parts_of(Part((), model), set()))
    seen = {part.model: slug(title(part)) for part in parts}
    for part in parts:
        yield from section(name, part, seen)
    yield from ("", "## Forms", "", FORMS)


def parts_of(part: Part, seen: set[type[Any]]) -> Iterator[Part]:
    """Yield a model and those below it, each once, where it is met first."""
    seen.add(part.model)
    yield part
    for field, annotation in shown_fields(part.model):
        for below in models(annotation):
            if below not in seen:
                yield from parts_of(Part((*part.path, field), below), seen)


def title(part: Part) -> str:
    """Return the heading of a section."""
    return ".".join(part.path) if part.path else "Fields"


def slug(text: str) -> str:
    """Return the anchor that GitHub, GitLab and the site make of a heading."""
    return re.sub(r"[^\w\s-]", "", text.lower()).strip().replace(" ", "-")


def section(name: str, part: Part, seen: Mapping[type[Any], str]) -> Iterator[str]:
    """Yield the table of one model."""
    yield from ("", f"## {title(part)}", "")
    yield from (" ".join((part.model.__doc__ or "").split("\n\n", maxsplit=1)[0].split()), "")
    yield from ("| field | value | default | meaning |", "|---|---|---|---|")
    texts = dict(docstrings(part.model)) if issubclass(part.model, BaseModel) else {}
    fields: Mapping[str, FieldInfo | None] = getattr(
        part.model, "model_fields", dict.fromkeys(part.model.__annotations__)
    )
    for (field, annotation), (attribute, info) in zip(shown_fields(part.model), fields.items(), strict=True):
        path = (*part.path, field)
        guide = GUIDES.get(".".join((name, *path)))
        text = " ".join(texts.get(attribute, "").split())
        more = f" [More](../{guide})." if guide else ""
        row = (f'<a id="{anchor(path)}"></a>`{field}`', words(annotation, seen), default(info), f"{text}{more}")
        yield f"| {' | '.join(cell(one_text) for one_text in row)} |"


def anchor(path: tuple[str, ...]) -> str:
    """Return the anchor of a field, such as `field-checkpoint-everyMinutes`; sections have those of their headings."""
    return "-".join(("field", *path))


def cell(text: str) -> str:
    """Return a text that breaks no table."""
    return text.replace("|", "\\|").strip()


def shown_fields(model: type[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a model, as they are written, with their types."""
    if is_typeddict(model):
        yield from get_type_hints(model, include_extras=True).items()
        return
    for info in model.model_fields.values():
        kept = info.metadata
        yield info.alias, Annotated[(info.annotation, *kept)] if kept else info.annotation


def models(annotation: Any) -> Iterator[type[Any]]:
    """Yield the models that a type is made of."""
    if isinstance(annotation, type) and (is_typeddict(annotation) or issubclass(annotation, Spec)):
        yield annotation
    for inner in get_args(annotation):
        if not isinstance(inner, (str, int)):
            yield from models(inner)


def words(annotation: Any, seen: Mapping[type[Any], str]) -> str:
    """Return the values that may be written, in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return of_annotated(inner[0], inner[1:], seen)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in {Union, types.UnionType}:
        return " or ".join(words(part, seen) for part in inner if part is not type(None))
    if origin is dict:
        return "map" if inner[1] is Any else f"map: {words(inner[0], seen)} → {words(inner[1], seen)}"
    if origin is tuple:
        return f"{'list' if inner[-1] is Ellipsis else f'list of {len(inner)}'}: {words(inner[0], seen)}"
    if isinstance(annotation, type) and annotation in seen:
        return f"[{plain(annotation.__name__)}](#{seen[annotation]})"
    return {str: "text", int: "whole number", float: "number", bool: "`true`, `false`", Any: "anything"}[annotation]


def of_annotated(base: Any, notes: tuple[Any, ...], seen: Mapping[type[Any], str]) -> str:
    """Return the values that may be written of a type with validators and bounds, in words."""
    for note in notes:
        if isinstance(note, BeforeValidator) and (text := CHANGED[note.func.__name__]):
            return text + bounds(notes)
        if isinstance(note, Form):
            return SHORT.get(note.should, note.should)
        if isinstance(note, AfterValidator) and (text := REFINED.get(note.func.__name__, "")):
            return text
    return words(base, seen) + bounds(notes, text=base is str)


def bounds(notes: tuple[Any, ...], *, text: bool = False) -> str:
    """Return the bounds of a number, or of how many a list has; that a text is none of no letters goes unsaid."""
    flat = [bound for note in notes for bound in (note.metadata if isinstance(note, FieldInfo) else (note,))]
    said = []
    for note in flat:
        if isinstance(note, Ge):
            said.append(f"from {note.ge}")
        elif isinstance(note, Gt):
            said.append(f"above {note.gt}")
        elif isinstance(note, Le) and note.le != MOST:
            said.append(f"to {note.le}")
        elif isinstance(note, Lt):
            said.append(f"below {note.lt}")
    kept = any(isinstance(note, MinLen) and note.min_length for note in flat)
    most = next((note.max_length for note in flat if isinstance(note, MaxLen)), None)
    said += [f", at most {most}"] if most is not None and not text else []
    return f" {' '.join(said)}".replace(" ,", ",") if said else ", not empty" if kept and not text else ""


def plain(name: str) -> str:
    """Return a model's name in words, as `borrow within cohort`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def default(info: FieldInfo | None) -> str:
    """Return the default where nothing is written; empty where the meaning says it, or nothing does."""
    if info is None:
        return ""
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=False)
    if value is PydanticUndefined or value is None or value in ((), {}) or isinstance(value, BaseModel):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else ""
