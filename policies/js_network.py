"""Pods of a JobSet that name each other have names.

Why: without enableDNSHostnames no name of a pod resolves, and every rank waits for the first one until it gives up.
Fix: correct the name, or remove enableDNSHostnames: false.
Source: kubernetes-sigs/jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go Network; pkg/controllers/jobset_controller.go
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, TrainingJob, World, texts


def check(world: World) -> Iterator[Problem]:
    """Look for names of a JobSet's own pods in it, where it has none, or has no pod of that name."""
    for job in world.training_jobs():
        if job.manifest.kind == "JobSet" and job.manifest.name:
            yield from named(job)


def named(job: TrainingJob) -> Iterator[Problem]:
    """Yield the names of pods that do not resolve, in command lines and variables."""
    value, name = job.manifest, job.manifest.name
    domain = value.text("spec", "network", "subdomain") or name
    pod = re.compile(rf"(?<![\w.-])({re.escape(name)}-(\w[\w-]*)-\d+-\d+)\.{re.escape(domain)}(?![\w-])")
    roles = {role for _, role in value.at("spec", "replicatedJobs", "*", "name", of=str)}
    said = [(text.place, text.text) for path, container in job.containers() for text in texts(job, path, container)]
    said += [(variable.place, variable.value or "") for variable in job.variables()]
    off = value.get("spec", "network", "enableDNSHostnames") is False
    for place, text in said:
        for found in pod.finditer(text):
            if off:
                message = f"the JobSet has no names for its pods, but {found[1]!r} is one; remove this field"
                yield Problem(Place(value, ("spec", "network", "enableDNSHostnames")), message)
                return
            if found[2] not in roles:
                yield Problem(place, f"no pod is called {found[1]!r}; replicated jobs are: {', '.join(sorted(roles))}")
