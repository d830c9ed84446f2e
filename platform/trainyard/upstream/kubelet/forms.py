"""What a case may look like: the type of each of its fields, and bounds that no machine passes.

A case comes from anybody. What it says is looked at once, here, so that nothing below meets a text for a number, or
counts CPUs until memory is full.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trainyard.base.errors import SpecError

MOST_CPUS = 8192
"""CPUs of one machine (Linux arch/x86/Kconfig NR_CPUS_RANGE_END)."""

MOST_NUMA = 1024
"""NUMA nodes of one machine (Linux arch/x86/Kconfig NODES_SHIFT)."""

MOST_THREADS = 8
"""Threads of a core; POWER has eight."""

MOST_DEVICES = 65_536
"""Devices of one resource and NUMA node; replicas and virtual functions are hundreds."""

WORDS = {"text": "text", "number": "a whole number", "flag": "true or false", "list": "a list", "map": "a map"}


@dataclass(frozen=True)
class Form:
    """The type of a value: a scalar, a list or a map of values, or a map of known fields."""

    kind: Literal["text", "number", "flag", "list", "map", "any"]
    of: Form | None = None
    """Of the parts of a list or a map."""
    fields: Mapping[str, Form] = field(default_factory=dict)
    """Of fields that are known; others of a map are of any form."""
    least: int = 0
    most: int = 2**63 - 1


ANY, TEXT, NUMBER, FLAG, MAP = Form("any"), Form("text"), Form("number"), Form("flag"), Form("map")
TEXTS, LABELS, AMOUNTS = Form("list", of=TEXT), Form("map", of=TEXT), Form("map")
PLACE = Form("number", least=-1, most=MOST_NUMA - 1)
PLACES = Form("list", of=PLACE)

NUMA = Form(
    "map",
    fields={
        "id": Form("number", most=MOST_NUMA - 1),
        "socket": Form("number", most=MOST_CPUS),
        "copies": Form("number", most=MOST_NUMA),
        "cores": Form("number", most=MOST_CPUS),
        "cpus": TEXT,
        "hugepages": AMOUNTS,
    },
)
DEVICES = Form("map", fields={"ids": TEXTS, "count": Form("number", most=MOST_DEVICES), "unhealthy": FLAG})
NODE = Form(
    "map",
    fields={
        "name": TEXT,
        "labels": LABELS,
        "sockets": Form("number", most=MOST_CPUS),
        "threadsPerCore": Form("number", most=MOST_THREADS),
        "siblings": TEXT,
        "coresPerL3": Form("number", most=MOST_CPUS),
        "numa": Form("list", of=NUMA),
        "distances": Form("list", of=Form("list", of=NUMBER)),
        "devices": Form("map", of=Form("list", of=DEVICES)),
        "choice": LABELS,
    },
)

RESOURCES = Form("map", fields={"limits": AMOUNTS, "requests": AMOUNTS})
PORT = Form("map", fields={"hostPort": NUMBER, "containerPort": NUMBER, "hostIP": TEXT, "protocol": TEXT})
CONTAINER = Form(
    "map",
    fields={
        "name": TEXT,
        "restartPolicy": TEXT,
        "restartPolicyRules": Form("list", of=Form("map", fields={"action": TEXT})),
        "resources": RESOURCES,
        "ports": Form("list", of=PORT),
    },
)
EXPRESSIONS = Form("list", of=Form("map", fields={"key": TEXT, "operator": TEXT, "values": TEXTS}))
TERM = Form("map", fields={"matchExpressions": EXPRESSIONS, "matchFields": EXPRESSIONS})
REQUIRED = Form("map", fields={"nodeSelectorTerms": Form("list", of=TERM)})
AFFINITY = Form("map", fields={"requiredDuringSchedulingIgnoredDuringExecution": REQUIRED})
SPEC = Form(
    "map",
    fields={
        "containers": Form("list", of=CONTAINER),
        "initContainers": Form("list", of=CONTAINER),
        "resources": RESOURCES,
        "overhead": AMOUNTS,
        "priority": Form("number", least=-(2**31), most=2**31 - 1),
        "nodeName": TEXT,
        "nodeSelector": LABELS,
        "affinity": Form("map", fields={"nodeAffinity": AFFINITY}),
        "os": Form("map", fields={"name": TEXT}),
        "hostNetwork": FLAG,
        "hostUsers": FLAG,
    },
)
METADATA = Form("map", fields={"name": TEXT, "uid": TEXT, "labels": LABELS, "annotations": LABELS})
STATUS = Form("map", fields={"phase": TEXT, "qosClass": TEXT})
STEP = Form("map", fields={"remove": TEXTS, "metadata": METADATA, "spec": SPEC, "status": STATUS})
CASE = Form(
    "map",
    fields={
        "name": TEXT,
        "kubernetes": TEXT,
        "node": NODE,
        "kubelet": MAP,
        "pods": Form("list", of=STEP),
        "explain": FLAG,
    },
)


def check(value: Any, form: Form, path: str) -> None:
    """Raise SpecError for the first value that is of another form; what is null is not there."""
    if value is None or form.kind == "any":
        return
    if not _is(value, form.kind):
        raise SpecError(f"{path} is {_shown(value)}; write {WORDS[form.kind]}")
    if form.kind == "number" and not form.least <= value <= form.most:
        raise SpecError(f"{path} is {_shown(value)}; write a number from {form.least} to {form.most}")
    if form.kind == "list" and form.of:
        for index, part in enumerate(value):
            if part is None:
                raise SpecError(f"{path}[{index}] is null; write {WORDS.get(form.of.kind, 'a value')}")
            check(part, form.of, f"{path}[{index}]")
    if form.kind == "map":
        for name, part in value.items():
            if not isinstance(name, str):
                raise SpecError(f"{path} has the name {_shown(name)}, which is no text; put it in quotes")
            inner = form.fields.get(name) or form.of or ANY
            if inner.kind != "any" and part is not None:
                check(part, inner, f"{path}.{name[:60]}")


def select_form(value: Any, form: Form) -> Any:
    """Return the part of a value that a form names: what a kubelet looks at, of a value that has the form."""
    if isinstance(value, Mapping) and form.fields:
        return {name: select_form(part, form.fields[name]) for name, part in value.items() if name in form.fields}
    if isinstance(value, list) and form.of:
        return [select_form(part, form.of) for part in value]
    return value


def _is(value: Any, kind: str) -> bool:
    if kind == "number":
        return isinstance(value, int) and not isinstance(value, bool)
    types = {"text": str, "flag": bool, "list": list, "map": Mapping}
    return isinstance(value, types[kind])


def _shown(value: Any) -> str:
    text = "a list" if isinstance(value, list) else "a map" if isinstance(value, Mapping) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
