"""What containers of a Ray cluster run: the command that starts Ray, and the script that submits a program to it.

Facts: kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go generateRayStartCommand, job.go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from trainyard.base.quantities import Quantity
from trainyard.faces.local.controllers.base import Object

SWITCHES = frozenset({"log-color", "include-dashboard"})
"""Options of `ray start` whose true and false are values."""


def options(params: Mapping[str, str]) -> str:
    """Return parameters of `ray start` as the operator writes them."""
    words = []
    for name, value in sorted(params.items()):
        if value.lower() in {"true", "false"} and name not in SWITCHES:
            words.append(f" --{name} " if value.lower() == "true" else "")
        else:
            words.append(f" --{name}={value} ")
    return "".join(words)


def start(group: Object, container: Object, *, head: bool, address: str) -> str:
    """Return the command that starts Ray in a group's pods."""
    params = {name: str(value) for name, value in (group.get("rayStartParams") or {}).items()}
    params |= sizes(group.get("resources") or {})
    if head:
        params.setdefault("dashboard-host", "0.0.0.0")  # noqa: S104 - of the pod
    else:
        params.setdefault("address", address)
    params.setdefault("metrics-export-port", "8080")
    params["block"] = "true"
    params.setdefault("dashboard-agent-listen-port", "52365")
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    own = sizes({name: amount for name, amount in limits.items() if name != "cpu"}, extra=False)
    cpu = limits.get("cpu", requests.get("cpu"))
    own |= sizes({"cpu": cpu}) if cpu is not None else {}
    params = {**{name: value for name, value in own.items() if value != "0"}, **params}
    return f"ray start {'--head ' if head else ''}{options(params)}"


def sizes(amounts: Mapping[str, Any], *, extra: bool = True) -> dict[str, str]:
    """Return a node's resources for Ray; all but CPUs, memory and GPUs go into `resources`."""
    found: dict[str, str] = {}
    others: dict[str, float] = {}
    for name, amount in sorted(amounts.items()):
        quantity = Quantity.parse(amount)
        known = {"cpu": "num-cpus", "memory": "memory"}.get(name.lower())
        if known is None and name.lower().endswith("gpu"):
            known = "num-gpus"
        if known:
            found.setdefault(known, str(quantity.value()))
        elif extra:
            others[name] = float(quantity.amount)
    if others:
        found["resources"] = f"'{json.dumps(others, separators=(',', ':'))}'"
    return found


def submission(spec: Object, address: str, called: str) -> str:
    """Return the script that submits once, however often it runs, and follows the program's log."""
    url = f"http://{address}"
    words = ["ray job submit", "--address", url, "--no-wait"]
    if spec.get("runtimeEnvYAML"):
        words += [
            "--runtime-env-json",
            quoted(json.dumps(yaml.safe_load(spec["runtimeEnvYAML"]), separators=(",", ":"))),
        ]
    if spec.get("metadata"):
        words += ["--metadata-json", quoted(json.dumps(spec["metadata"], sort_keys=True, separators=(",", ":")))]
    words += ["--submission-id", called]
    for field, option in (("entrypointNumCpus", "cpus"), ("entrypointNumGpus", "gpus")):
        if spec.get(field):
            words += [f"--entrypoint-num-{option}", f"{float(spec[field]):f}"]
    if spec.get("entrypointResources"):
        words += ["--entrypoint-resources", quoted(spec["entrypointResources"])]
    words += ["--", str(spec.get("entrypoint") or "").strip()]
    known = f"ray job status --address {url} {called} >/dev/null 2>&1"
    return f"if ! {known} ; then {' '.join(words)} ; fi ; ray job logs --address {url} --follow {called}"


def quoted(text: str) -> str:
    """Return a text in double quotes, as Go quotes it."""
    return json.dumps(text, ensure_ascii=False)
