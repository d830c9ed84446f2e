"""The shell in front of a program that saves passes SIGTERM on.

Why: The kubelet sends SIGTERM only to the first process of a container. A shell waits for its commands and passes no
 signal on. So the program does not save before SIGKILL.
Fix: start the program with exec as the last command, or set a trap that passes SIGTERM on.
Source: kubernetes/website v1.35 content/en/docs/concepts/workloads/pods/pod-lifecycle.md; pid_namespaces(7);
 bash(1) SIGNALS
"""

from collections.abc import Iterator

from trainyard.checks import Pods, Problem, Severity, World, shells

SEVERITY = Severity.WARNING
SAVES = "CHECKPOINT_DIR"
"""The variable of a container that has a folder for checkpoints."""

DEFAULT = 30
"""Seconds of grace where nobody asked for more."""


def check(world: World) -> Iterator[Problem]:
    """Look at scripts in which a command follows the program, of pods that have time to save."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            for shell in shells(pods) if saves(pods) else ():
                end = shell.end
                if end and end[0].behind and not end[0].text.startswith("exec "):
                    message = "the shell gets SIGTERM and does not pass it on, so the program saves nothing"
                    yield Problem(shell.place, f"{message}; start it last, with exec")


def saves(pods: Pods) -> bool:
    """Say whether pods get more time to end than others, or have a folder for checkpoints."""
    grace = pods.spec.get("terminationGracePeriodSeconds")
    longer = isinstance(grace, int) and grace > DEFAULT
    return longer or any(variable.name == SAVES for variable in pods.variables(init=False))
