"""Variables in a command line must be written as $(NAME) and set for the container.

Why: Without a shell Kubernetes expands only $(NAME), and only if NAME is in the container's env. Any other text reaches
 the program unchanged, without an error.
Fix: write $(NAME) and set NAME in env, or run the line with `sh -c`; to keep the text $(NAME), write $$(NAME).
Source: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Container.Command; third_party/forked/golang/expansion
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.checks import Manifest, Place, Problem, Severity, TrainingJob, World, did_you_mean, injected, texts

EXPANDED = re.compile(r"\$\$|\$\(([^)\s]*)\)")
SHELL = re.compile(r"(?<!\$)\$\{([A-Z][A-Z0-9_]*)\}|(?:(?<=[=/:])|^)\$([A-Z][A-Z0-9_]*)(?=$|[/:])")

SET_BY_OTHERS = re.compile(
    r"\w+_SERVICE_(?:HOST|PORT\w*)|\w+_PORT(?:_\w+)?|PCIDEVICE_\w+|NVIDIA_\w+|(?:AWS|AZURE|GOOGLE)_\w+"
)
"""Variables that the kubelet sets for Services and devices, and clouds' webhooks for identities."""

FILLED_IN = frozenset(
    {"image", "name", "namespace", "claimName", "replicas", "minReplicas", "maxReplicas", "parallelism"}
)
"""Fields in which no program expands `$NAME`, so that somebody does it before the file is applied."""

AMOUNTS = frozenset({"limits", "requests", "nodeSelector"})
"""Maps of which the same holds for every value."""

TRAINER = ("spec", "trainer")
"""Where a TrainJob names variables that come behind those of its runtime."""

VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
"""Names that variables have; `$(hostname)` in a value is a shell's, which a script may still run."""


def check(world: World) -> Iterator[Problem]:
    """Check the command line and the variables of every container."""
    for job in world.workloads():
        if world.inventory is None and is_template(job.manifest):
            continue
        yield from shell_values(job)
        for path, container in job.containers():
            known = env_names(container)
            for place, text in texts(job, path, container):
                if "$" not in text:
                    continue
                for name in undefined_names(text, known, job):
                    message = f"$({name}) is not expanded, because the container has no variable {name!r}"
                    yield Problem(place, f"{message}; {nearest(name, known)}")
                for match in SHELL.finditer(text):
                    name = match[1] or match[2]
                    yield Problem(
                        place, f"{match[0]} is not expanded, because no shell runs here; write $({name}) or use sh -c"
                    )


def is_template(manifest: Manifest) -> bool:
    """Say whether an object is text for envsubst: it has `$NAME` where nobody else would expand it."""
    return any(map(is_filled_in, nodes(manifest.value)))


def is_filled_in(node: Mapping[str, Any]) -> bool:
    """Say whether a map has such a value, or is a variable that is set to itself."""
    own = node.get("value")
    itself = isinstance(own, str) and own in {f"${{{node.get('name')}}}", f"${node.get('name')}"}
    values = [value for field, value in node.items() if field in FILLED_IN]
    values += [value for field in AMOUNTS if isinstance(inner := node.get(field), dict) for value in inner.values()]
    return itself or any(isinstance(value, str) and SHELL.search(value) for value in values)


def nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all maps in a value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(inner)


def shell_values(job: TrainingJob) -> Iterator[Problem]:
    """Yield variables whose values contain a shell variable, such as `$PATH:/opt/bin`."""
    for variable in job.variables():
        match = SHELL.search(variable.value) if variable.value and "$" in variable.value else None
        if match is not None:
            name = match[1] or match[2]
            hint = "write its value" if name == variable.name else f"write its value or $({name})"
            message = f"{variable.name} contains {match[0]}, which only a shell expands; {hint}"
            yield Problem(variable.place, message, severity=Severity.WARNING)
    for path, container in job.containers():
        if path != TRAINER:
            yield from in_order(job, path, container)


def in_order(job: TrainingJob, path: tuple[str | int, ...], container: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield values that refer to a variable that nothing sets, or that stands behind them: only those before count."""
    known = env_names(container)
    if known is None:
        return
    before: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        if not isinstance(variable, dict) or not isinstance(name := variable.get("name"), str):
            continue
        value = variable.get("value")
        for missing in undefined_names(value, frozenset(before), job) if isinstance(value, str) else ():
            if not VARIABLE.fullmatch(missing):
                continue
            why, hint = reason(missing, name, known, before)
            message = f"{name} has $({missing}), which stays as it is written: {why}"
            place = Place(job.manifest, (*path, "env", index, "value"))
            yield Problem(place, f"{message}; {hint}", severity=Severity.WARNING)
        before.add(name)


def nearest(name: str, known: Iterable[str] | None) -> str:
    """Return the variable that is probably meant, or else what to do about one that nothing sets."""
    hint = did_you_mean(name, known or ())
    return hint if hint.startswith("did you mean") else "set it in env"


def reason(missing: str, name: str, known: frozenset[str], before: Iterable[str]) -> tuple[str, str]:
    """Return why a value does not get a variable, and what to do."""
    if missing == name:
        return "the image's own value is not known here", "write it out"
    if missing in known:
        return f"{missing} stands behind it", "list it before"
    return f"nothing sets {missing!r}", nearest(missing, before)


def env_names(container: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names in a container's env; None if envFrom adds others."""
    if container.get("envFrom"):
        return None
    env = container.get("env")
    found = [variable.get("name") for variable in env if isinstance(variable, dict)] if isinstance(env, list) else []
    return frozenset(name for name in found if isinstance(name, str))


def undefined_names(text: str, known: frozenset[str] | None, job: TrainingJob) -> Iterator[str]:
    """Yield the names in a text that no env, controller or kubelet sets."""
    if known is None:
        return
    for match in EXPANDED.finditer(text):
        name = match[1]
        if name and name not in known and not injected(job, name) and not SET_BY_OTHERS.fullmatch(name):
            yield name
