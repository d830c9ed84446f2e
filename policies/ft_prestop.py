"""A hook before the end of a container leaves time of the grace period to the program.

Why: The grace period begins with the preStop hook, and SIGTERM comes after it. A hook that takes the whole period
 leaves two seconds until SIGKILL, which is no time to save.
Fix: shorten the hook, or raise terminationGracePeriodSeconds by its time.
Source: kubernetes v1.35 pkg/kubelet/kuberuntime/kuberuntime_container.go killContainer
"""

import re
from collections.abc import Iterator
from typing import Any

from trainyard.checks import Place, Problem, Severity, World

SEVERITY = Severity.WARNING
SLEEP = re.compile(r"(?:^|[\s;&|/])sleep\s+(?P<number>\d+)(?P<unit>[smh]?)(?=$|[\s;&|])")
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
BRANCHES = re.compile(r"\b(?:if|while|until|for|case)\b|\|\||&&")
"""What lets a script end before it sleeps, or sleep less often."""

DEFAULT = 30
"""Seconds of grace where nothing is written."""


def check(world: World) -> Iterator[Problem]:
    """Look at hooks that sleep, in containers of all workloads."""
    for job in world.workloads():
        for pods in job.pod_sets():
            grace = pods.spec.get("terminationGracePeriodSeconds", DEFAULT)
            for path, container in pods.containers(init=False) if isinstance(grace, int) else ():
                seconds, at = slept(container)
                if seconds >= grace > 0:
                    message = f"the hook takes {seconds} of {grace} seconds of grace, so the program has none to save"
                    yield Problem(Place(pods.manifest, (*path, *at)), f"{message}; shorten it")


def slept(container: Any) -> tuple[int, tuple[str | int, ...]]:
    """Return the seconds for which a container's hook surely sleeps, and where it says so."""
    hook = container.get("lifecycle")
    hook = hook.get("preStop") if isinstance(hook, dict) else None
    command = hook.get("exec") if isinstance(hook, dict) else None
    words = command.get("command") if isinstance(command, dict) else None
    words = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    text = " ".join(words)
    found = [] if BRANCHES.search(text) else list(SLEEP.finditer(text))
    seconds = sum(int(one["number"][:9]) * UNITS[one["unit"]] for one in found)
    at = next((index for index, word in enumerate(words) if found and found[0]["number"] in word), 0)
    return seconds, ("lifecycle", "preStop", "exec", "command", at)
