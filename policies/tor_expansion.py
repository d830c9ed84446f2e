"""Variables in a command line are written as Kubernetes expands them, and are set for the container.

Why: without a shell only $(NAME) is expanded, and only where NAME is in the container's env; everything else reaches
 the program as it is written, and nothing reports it.
Fix: write $(NAME) and set NAME in env, or run the line by `sh -c`; $$(NAME) says that it is meant as it is written.
Source: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Container.Command; third_party/forked/golang/expansion
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Problem, Severity, TrainingJob, World, injected, texts

EXPANDED = re.compile(r"\$\$|\$\(([^)\s]*)\)")
SHELL = re.compile(r"(?<!\$)\$\{([A-Z][A-Z0-9_]*)\}|(?:(?<=[=/:])|^)\$([A-Z][A-Z0-9_]*)(?=$|[/:])")

FROM_OUTSIDE = re.compile(
    r"\w+_SERVICE_(?:HOST|PORT\w*)|\w+_PORT(?:_\w+)?|PCIDEVICE_\w+|NVIDIA_\w+|(?:AWS|AZURE|GOOGLE)_\w+"
)
"""What the kubelet sets of Services and devices, and what clouds' webhooks set of identities."""


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
            message = f"{variable.name} has {match[0]}, which only a shell knows; write its value, or $({name})"
            yield Problem(variable.place, message, severity=Severity.WARNING)


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
