"""Variables in a command line are written as Kubernetes expands them, and are set for the container.

Why: without a shell only $(NAME) is expanded, and only where NAME is in the container's env; everything else reaches
 the program as it is written, and nothing reports it.
Fix: write $(NAME) and set NAME in env, or run the line by `sh -c`; $$(NAME) says that it is meant as it is written.
Source: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Container.Command; third_party/forked/golang/expansion
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Problem, Severity, TrainingJob, World, injected, texts

EXPANDED = re.compile(r"\$\$|\$\(([^)\s]*)\)")
SHELL = re.compile(r"(?<!\$)\$\{([A-Z][A-Z0-9_]*)\}|(?:(?<=[=/:])|^)\$([A-Z][A-Z0-9_]*)(?=$|[/:])")

FROM_OUTSIDE = re.compile(
    r"\w+_SERVICE_(?:HOST|PORT\w*)|\w+_PORT(?:_\w+)?|PCIDEVICE_\w+|NVIDIA_\w+|(?:AWS|AZURE|GOOGLE)_\w+"
)
"""What the kubelet sets of Services and devices, and what clouds' webhooks set of identities."""

TRAINER = ("spec", "trainer")
"""Where a TrainJob names variables that come behind those of its runtime."""

VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
"""Names that variables have; `$(hostname)` in a value is a shell's, which a script may still run."""


def check(world: World) -> Iterator[Problem]:
    """Look at the command line and the variables of every container of whatever trains."""
    for job in world.workloads():
        yield from of_variables(job)
        for path, container in job.containers():
            known = variables(container)
            for place, text in texts(job, path, container):
                if "$" not in text:
                    continue
                for name in undefined(text, known, job):
                    message = f"$({name}) stays as it is written: the container has no variable {name!r}; set it in env"
                    yield Problem(place, message)
                for match in SHELL.finditer(text):
                    name = match[1] or match[2]
                    yield Problem(
                        place, f"{match[0]} is for a shell, and none runs here; write $({name}), or use sh -c"
                    )


def of_variables(job: TrainingJob) -> Iterator[Problem]:
    """Yield values that begin or go on with a shell's variable, such as `$PATH:/opt/bin`."""
    for variable in job.variables():
        match = SHELL.search(variable.value) if variable.value and "$" in variable.value else None
        if match is not None:
            name = match[1] or match[2]
            other = f", or $({name})" if name != variable.name else ""
            message = f"{variable.name} has {match[0]}, which only a shell knows; write its value{other}"
            yield Problem(variable.place, message, severity=Severity.WARNING)
    for path, container in job.containers():
        if path != TRAINER:
            yield from in_order(job, path, container)


def in_order(job: TrainingJob, path: tuple[str | int, ...], container: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield values that refer to a variable that nothing sets, or that stands behind them: only those before count."""
    known = variables(container)
    if known is None:
        return
    before: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        if not isinstance(variable, dict) or not isinstance(name := variable.get("name"), str):
            continue
        value = variable.get("value")
        for missing in undefined(value, frozenset(before), job) if isinstance(value, str) else ():
            if not VARIABLE.fullmatch(missing):
                continue
            why, hint = reason(missing, name, known)
            message = f"{name} has $({missing}), which stays as it is written: {why}"
            place = Place(job.manifest, (*path, "env", index, "value"))
            yield Problem(place, f"{message}; {hint}", severity=Severity.WARNING)
        before.add(name)


def reason(missing: str, name: str, known: frozenset[str]) -> tuple[str, str]:
    """Return why a value does not get a variable, and what to do."""
    if missing == name:
        return "the image's own value is not known here", "write it out"
    if missing in known:
        return f"{missing} stands behind it", "list it before"
    return f"nothing sets {missing!r}", "set it in env"


def variables(container: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names in a container's env; None where more come from elsewhere."""
    if container.get("envFrom"):
        return None
    env = container.get("env")
    found = [variable.get("name") for variable in env if isinstance(variable, dict)] if isinstance(env, list) else []
    return frozenset(name for name in found if isinstance(name, str))


def undefined(text: str, known: frozenset[str] | None, job: TrainingJob) -> Iterator[str]:
    """Yield the names in a text that nothing is known to set."""
    if known is None:
        return
    for match in EXPANDED.finditer(text):
        name = match[1]
        if name and name not in known and not injected(job, name) and not FROM_OUTSIDE.fullmatch(name):
            yield name
