"""Run the pods of a job: start what its controller says, tell it of every end, and stop all when it is over.

Facts: kubernetes v1.35 pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions. The kubelet's waits between
starts, ten seconds and twice as long each time, are one second here.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from trainyard.faces.local.controllers.base import Pod
from trainyard.faces.local.kubelet import Resolved
from trainyard.faces.local.lives import Exit, Life, Step
from trainyard.faces.local.lives.base import KILLED
from trainyard.faces.local.members import Member, Running, is_sidecar
from trainyard.faces.local.output import Output
from trainyard.faces.local.progress import Progress, ranks_of, what_of
from trainyard.faces.local.spaces.base import Space
from trainyard.faces.local.steps import Steps, Target
from trainyard.faces.local.volumes import Volumes, inside

WAIT_SECONDS = 1.0
"""Before a container starts again in its pod."""

TICK_SECONDS = 0.1
Say = Callable[[Pod | None, str], None]
Watch = Callable[[Callable[[], Progress]], None]
"""Is told often that it may ask how the run stands."""


@dataclass
class Gang:
    """The pods of one job as they run."""

    pods: Sequence[Resolved]
    life: Life
    space: Space
    volumes: Volumes
    say: Say
    targets: Sequence[Target] = ()
    grace: float | None = None
    """Seconds that pods have to end, if not as long as each says."""
    watch: Watch = lambda _: None
    began: float = field(default_factory=time.monotonic)
    members: dict[str, Member] = field(default_factory=dict)
    over: Step | None = None
    restarts: int = 0
    """Of containers, in their pods."""
    again: int = 0
    """Restarts of the gang, and of pods."""
    steps: Steps = field(default_factory=Steps)
    numbers: Iterable[int] = field(default_factory=count)
    output: Output = field(init=False)

    def __post_init__(self) -> None:
        self.output = Output(self.line)

    def run(self) -> bool:
        """Run to the end, and return whether it was a good one; whatever happens, nothing is left."""
        by_name = {pod.pod.name: pod for pod in self.pods}
        try:
            self.space.open()
            for name in self.life.begin():
                self.start(by_name[name])
            if not self.members:
                why = "no pod may start: parallelism is 0" if self.pods else "there are no pods to run"
                self.over = Step(over=not self.pods, why=why)
            while self.over is None:
                self.turn(by_name)
            self.say(None, f"{'done' if self.over.over else 'failed'}: {self.over.why}")
            self.stop()
        except KeyboardInterrupt:
            self.say(None, "interrupted; stopping all pods")
            self.stop()
            raise
        finally:
            self.kill()
            self.space.close()
            self.volumes.end()
        return bool(self.over.over)

    def turn(self, by_name: dict[str, Resolved]) -> None:
        """Read what there is, see who has ended, and do what follows."""
        self.output.read(TICK_SECONDS)
        self.watch(self.progress)
        for step in self.reap():
            self.follow(step, by_name)
            if self.over is not None:
                return
        now = time.monotonic()
        for member in self.members.values():
            self.advance(member, now)

    def follow(self, step: Step, by_name: dict[str, Resolved]) -> None:
        """Do what a controller says."""
        if step.over is not None:
            self.over = step
            return
        if step.why:
            self.say(None, step.why)
        if step.all_again:
            self.stop()
            self.members.clear()
            self.life.again()
            self.steps.again()
            self.again += 1
            for name in self.life.begin():
                self.start(by_name[name])
        for name in step.start:
            old = self.members.get(name)
            if old is not None:
                self.end([old])
                self.again += 1
            self.steps.again()
            self.start(by_name[name])

    def start(self, resolved: Resolved) -> None:
        """Make a pod, of which the first container starts at the next turn."""
        shutil.rmtree(inside(self.volumes.scratch, resolved.folder), ignore_errors=True)
        before = [Running(container) for container in resolved.containers if container.first]
        beside = [Running(container) for container in resolved.containers if not container.first]
        self.members[resolved.pod.name] = Member(resolved, before, beside)
        self.advance(self.members[resolved.pod.name], time.monotonic())

    def advance(self, member: Member, now: float) -> None:
        """Start the containers whose turn it is."""
        if member.ending is not None:
            return
        for one_member in member.before:
            if one_member.started is None and one_member.code is None and now >= one_member.due:
                self.launch(member, one_member)
            if not is_sidecar(one_member.container) and one_member.code is None:
                return
        for one_member in member.beside:
            if one_member.started is None and one_member.code is None and now >= one_member.due:
                self.launch(member, one_member)

    def launch(self, member: Member, running: Running) -> None:
        """Start a container."""
        resolved = member.resolved
        mounts = list(self.volumes.mounts(resolved.pod, running.container, resolved.address))
        running.started = self.space.start(resolved, running.container, mounts, next(iter(self.numbers)))
        self.output.follow(member, running)

    def line(self, member: Member, line: bytes) -> None:
        """Show a line, and kill whom its step is for."""
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.say(member.resolved.pod, text)
        self.life.read_line(member.resolved.pod, text)
        for told in self.steps.see(text, member.name, time.monotonic()):
            self.say(None, told)
        for target in self.targets:
            if not target.done and self.steps.last is not None and self.steps.last >= target.step:
                target.done = True
                self.strike(target)

    def strike(self, target: Target) -> None:
        """Kill all containers of a pod, as the kernel does when memory runs out; the pod itself stays."""
        victim = self.members.get(target.pod)
        if victim is None or not victim.alive:
            self.say(None, f"{target.pod} is not running at step {target.step}, so it is not killed")
            return
        victim.killed = True
        self.steps.struck(time.monotonic())
        pod = victim.resolved.pod
        self.say(None, f"killed {pod.role}-{pod.index} at step {self.steps.last}")
        if more := self.life.spared(pod):
            self.say(None, f"its pod stays; {more}")
        for member in victim.all:
            if member.started is not None:
                member.started.kill()

    def reap(self) -> list[Step]:
        """Return the step that follows from the end of containers."""
        found: list[Step] = []
        for member in list(self.members.values()):
            for one_member in member.all:
                if one_member.started is not None and one_member.started.code is not None:
                    code = one_member.started.code
                    self.output.drain(member, one_member)
                    one_member.started.kill()
                    one_member.started = None
                    found += self.ended(member, one_member, KILLED if member.killed else code)
            if not member.alive:
                member.killed = False
        return found

    def ended(self, member: Member, running: Running, code: int) -> list[Step]:
        """Start a container again in its pod, or say what its end means."""
        if member.ending is not None:
            running.code = code
            return []
        policy = member.resolved.pod.spec.get("restartPolicy") or "Always"
        first = running.container.first
        again = (policy == "Always" and not first) or (policy != "Never" and code != 0) or is_sidecar(running.container)
        if again and not (code == 0 and not self.life.stays):
            running.due = time.monotonic() + WAIT_SECONDS
            if is_sidecar(running.container):
                return []
            self.restarts += 1
            self.steps.again()
            pod = member.resolved.pod
            self.say(pod, f"container {running.container.name} exited with code {code} and restarts in its pod")
            return [self.life.restarted(pod, self.restarts)]
        running.code = code
        if first and code == 0:
            return []
        if first or all(one_member.code is not None for one_member in member.beside):
            return [self.finished(member, running if first else None)]
        return []

    def finished(self, member: Member, failed: Running | None) -> Step:
        """Return the step that follows from the end of a pod."""
        bad = failed or next((one_member for one_member in member.beside if one_member.code), None)
        exit_ = Exit(bad.code or 0, bad.container.name) if bad else Exit(0)
        self.end([member])
        if exit_.code:
            self.say(member.resolved.pod, f"exited with code {exit_.code}")
        return self.life.finished(member.resolved.pod, exit_)

    def end(self, members: Sequence[Member]) -> None:
        """Tell pods to end, and kill what has not ended when their grace is over."""
        now = time.monotonic()
        for member in members:
            if member.ending is None:
                member.ending = now
                for one_member in member.all:
                    if one_member.started is not None:
                        one_member.started.tell()
        while any(member.alive for member in members):
            self.output.read(TICK_SECONDS)
            self.watch(self.progress)
            self.reap()
            for member in members:
                grace = member.grace if self.grace is None else min(self.grace, member.grace)
                if member.ending is not None and time.monotonic() - member.ending > grace:
                    for one_member in member.all:
                        if one_member.started is not None:
                            one_member.started.kill()

    def progress(self) -> Progress:
        """Return how the run stands."""
        pods = tuple(self.pods)
        up = [member for member in self.members.values() if any(own.started is not None for own in member.beside)]
        struck = self.steps.struck_at is not None
        doing = "recovering" if struck else "running" if self.steps.last is None else "training"
        return Progress(
            "ending" if self.over is not None else doing,
            time.monotonic() - self.began,
            sum(ranks_of(member.resolved, pods) for member in up),
            sum(ranks_of(pod, pods) for pod in pods),
            what_of(pods),
            self.steps.last,
            self.steps.loss,
            self.restarts + self.again,
        )

    def stop(self) -> None:
        """End all pods, with the grace that they have."""
        self.end(list(self.members.values()))

    def kill(self) -> None:
        """End whatever still runs, at once."""
        for member in self.members.values():
            for one_member in member.all:
                if one_member.started is not None:
                    one_member.started.kill()
                    one_member.started.process.wait()
                    stream = one_member.started.process.stdout
                    if stream is not None:
                        stream.close()
        self.output.close()
