"""One run of one object here: where its folders are, how its pods are kept apart, who is killed when."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trainyard.base.findings import count_of
from trainyard.base.system import scratch
from trainyard.faces.local import Work
from trainyard.faces.local.controllers import Objects
from trainyard.faces.local.controllers.base import RunError, name_of
from trainyard.faces.local.door import reporting
from trainyard.faces.local.gang import Gang, Say, Watch
from trainyard.faces.local.kubelet import Container, Resolved, absent, resolve
from trainyard.faces.local.lives import life_of
from trainyard.faces.local.saves import Saves, declared
from trainyard.faces.local.secrets import drawn
from trainyard.faces.local.spaces import linux
from trainyard.faces.local.spaces.base import Space
from trainyard.faces.local.spaces.plain import Plain
from trainyard.faces.local.steps import Steps, processes, target
from trainyard.faces.local.volumes import Volumes

THREADS = "OMP_NUM_THREADS"


class Session:
    """Everything that is needed to run the pods of one object."""

    def __init__(
        self,
        work: Work,
        say: Say,
        *,
        state: Path | None = None,
        workdir: Path = Path(),
        paths: Mapping[str, Path] | None = None,
        kill: Sequence[str] = (),
        grace: float | None = None,
        plain: bool = False,
        watch: Watch = lambda _: None,
    ) -> None:
        with reporting(f"{work.controller.kind} {name_of(work.value)!r}"):
            objects = Objects.of((*work.objects.values, *drawn(work.objects)))
            pods = [resolve(pod.pod, objects, pod.address) for pod in work.pods]
            for pod in pods:
                for container in pod.containers:
                    if container.image_starts:
                        raise RunError(
                            f"container {container.name!r} of pod {pod.pod.name!r} has no command, "
                            "and its image's own is not known here; write one"
                        )
            pods, changed = fewer_threads(pods)
            why = "--plain says so" if plain else linux.possible()
            make: type[Space] = Plain if why else linux.Linux
            place = scratch.make("run")
            self.space = make(pods, work.names, place, workdir.resolve())
            volumes = Volumes(state or default_state(), place, objects, paths or {}, self.space.rewrite)
            life = life_of(work.value, objects, [pod.pod for pod in pods])
            steps = Steps(saves=Saves(declared(pods)))
            targets = [target(text, pods) for text in kill]
            self.gang = Gang(pods, life, self.space, volumes, say, targets, grace, watch, steps=steps)
            several = count_of(len(pods), "pod")
            self.warnings = [f"{work.controller.kind} {name_of(work.value)}: {several} as {self.space.how}"]
            if why and not plain:
                self.warnings.append(f"Linux namespaces are not used: {why}")
            self.warnings += changed
            missing = sorted({name for pod in pods for name in absent(pod.pod, objects)})
            self.warnings += (f"Secret {name} is empty here; set it with --secret {name}=FOLDER" for name in missing)

    def run(self) -> bool:
        """Run the pods to their end, and return whether it is a good one."""
        return self.gang.run()


def fewer_threads(pods: Sequence[Resolved]) -> tuple[list[Resolved], list[str]]:
    """Return pods with no more threads for each rank than this machine has CPUs for, and what that changes.

    The number in a manifest is that of a node's CPUs; many times those of this machine, threads wait for each other.
    """
    most = max(1, (os.cpu_count() or 1) // max(1, sum(map(processes, pods))))
    said: set[str] = set()

    def slower(container: Container) -> Container:
        own = container.env.get(THREADS, "")
        if not own.isdigit() or int(own) <= most:
            return container
        said.add(own)
        return replace(container, env={**container.env, THREADS: str(most)})

    found = [replace(pod, containers=tuple(map(slower, pod.containers))) for pod in pods]
    return found, [f"{THREADS} is {most} instead of {own}: this machine has no more CPUs" for own in sorted(said)]


def default_state() -> Path:
    """Return where volumes stay between runs: this user's folder for what programs keep."""
    own = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(own).expanduser() / "trainyard"
