"""Host names of a JobSet's own pods must resolve.

Why: A name without a pod never resolves, and with enableDNSHostnames: false no pod name resolves. Every rank waits for
 the first one until it times out.
Fix: correct the name, or remove enableDNSHostnames: false.
Source: kubernetes-sigs/jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go Network; pkg/controllers/jobset_controller.go
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, TrainingJob, World, texts

HOST = re.compile(r"[\w.-]+")
POD = re.compile(r"-(\w[\w-]*)-\d+-\d+\.(.+)")
"""The text after the JobSet's name: the replicated job, two indices, and the domain."""


def check(world: World) -> Iterator[Problem]:
    """Find host names of a JobSet's own pods that do not resolve."""
    for job in world.training_jobs():
        if job.manifest.kind == "JobSet" and job.manifest.name:
            yield from unresolved_names(job)


def unresolved_names(job: TrainingJob) -> Iterator[Problem]:
    """Yield the names of pods that do not resolve, in command lines and variables."""
    value, name = job.manifest, job.manifest.name
    domain = value.text("spec", "network", "subdomain") or name
    roles = {role for _, role in value.at("spec", "replicatedJobs", "*", "name", of=str)}
    said = [(text.place, text.text) for path, container in job.containers() for text in texts(job, path, container)]
    said += [(variable.place, variable.value or "") for variable in job.variables()]
    off = value.get("spec", "network", "enableDNSHostnames") is False
    for place, text in said:
        for pod, role in pods_in(text, name, domain):
            if off:
                message = f"host name {pod!r} does not resolve while enableDNSHostnames is false; remove this field"
                yield Problem(Place(value, ("spec", "network", "enableDNSHostnames")), message)
                return
            if role not in roles:
                yield Problem(
                    place, f"the JobSet has no pod {pod!r}; its replicated jobs are: {', '.join(sorted(roles))}"
                )


def pods_in(text: str, name: str, domain: str) -> Iterator[tuple[str, str]]:
    """Yield the pods of a JobSet that a text names, each with its replicated job."""
    for host in HOST.findall(text) if name in text else ():
        found = POD.fullmatch(host, len(name)) if host.startswith(name) else None
        if found and f"{found[2]}.".startswith(f"{domain}."):
            yield host[: found.start(2) - 1], found[1]
