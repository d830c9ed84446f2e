"""Ranks meet at an address that leads each of them to the same pod.

Why: A name of no pod does not resolve, and a rank that asks itself never finds the others. A name of all pods leads
 each rank to another one. torchrun reads no MASTER_ADDR: without an address each node meets at 127.0.0.1.
Fix: write the name of the first pod: job-0.service of a Job, name-role-0-0.name of a JobSet, name-master-0 of a
 PyTorchJob; write --rdzv-endpoint as host or host:port.
Source: pytorch v2.9 torch/distributed/run.py get_rdzv_endpoint, elastic/rendezvous/utils.py parse_rendezvous_endpoint;
 kubernetes v1.35 batch/v1 types.go completionMode; jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go Network;
 training-operator v1.9.4 pkg/controller.v1/common/service.go
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from trainyard.checks import Place, Pods, Problem, TrainingJob, World, injected, launched, whole_number

TORCHRUN = frozenset({"torchrun", "torch.distributed.run", "torch.distributed.launch"})
OWN = re.compile(r"localhost|127(\.\d{1,3}){3}|0\.0\.0\.0|::1|\[::1\]")
"""Hosts that mean each pod itself."""

ENDPOINT = re.compile(r"[\w.-]+(:\d+)?|[\da-fA-F:]+|\[[\da-fA-F:]+\](:\d+)?")
BRANCHES = re.compile(r"\b(if|case)\b|&&|\|\|")
"""What a script has whose nodes do not all do the same."""

OF_JOBSET = re.compile(r"-\w[\w-]*-\d+-\d+")
"""The rest of a name behind that of a JobSet: js-network looks at those."""

SAID = re.compile(r"MASTER_ADDR|RDZV_ENDPOINT|--standalone")
"""What a command line says of an address elsewhere."""

RANGE = re.compile(r"\d+(?::(\d+))?")


class Names(NamedTuple):
    """The host names of a job's pods."""

    domain: str
    """The subdomain of all of them; empty where each has a Service of its own."""
    first: str
    """The name of the first pod, as it should be written."""
    may_be: Callable[[str], bool]
    """Whether a pod has this name, without its domain."""
    meant: Callable[[str], bool]
    """Whether somebody meant a pod of this job by a name."""


def check(world: World) -> Iterator[Problem]:
    """Look at launchers that meet on several nodes, where the address is written."""
    for job in world.all_jobs():
        total = sum(pods.count for pods in job.pod_sets())
        for pods in job.pod_sets() if total > 1 else ():
            if not pods.spec.get("hostNetwork"):
                yield from of_pods(world, job, pods)


def of_pods(world: World, job: TrainingJob, pods: Pods) -> Iterator[Problem]:
    """Yield the problem of each launcher in equal pods."""
    for container, launcher, options in launched(pods):
        found = options.get("--nnodes")
        nodes = RANGE.fullmatch(found[1]) if found else None
        if launcher not in TORCHRUN or found is None or nodes is None or (whole_number(nodes[1] or nodes[0]) or 0) < 2:
            continue
        address = address_of(pods, container, options)
        if address is not None:
            yield from check_address(world, job, pods, address)
        elif options.get("--rdzv-backend", found)[1] in ("static", found[1]) and not is_told(job, pods, container):
            message = f"{launcher} runs on {found[1]} nodes, but gets no address, so each meets at its own"
            yield Problem(found[0], f"{message}; add --master-addr")


def address_of(
    pods: Pods, container: tuple[str | int, ...], options: Mapping[str, tuple[Place, str]]
) -> tuple[Place, str] | None:
    """Return the address at which ranks meet, with its place, where it is written."""
    static = options.get("--rdzv-backend", (None, "static"))[1] == "static"
    for option in ("--rdzv-endpoint", *(("--master-addr",) if static else ())):
        if option in options:
            return options[option]
    names = ("PET_RDZV_ENDPOINT", *(("PET_MASTER_ADDR",) if static else ()))
    own = {found.name: found for found in pods.variables(init=False) if found.container == container}
    return next(((own[name].place, own[name].value or "$") for name in names if name in own), None)


def is_told(job: TrainingJob, pods: Pods, container: tuple[str | int, ...]) -> bool:
    """Whether a launcher may get its address from the operator, from variables or from its script."""
    value = pods.manifest.get(*container)
    if injected(job, "PET_MASTER_ADDR") or not isinstance(value, Mapping) or value.get("envFrom"):
        return True
    said = [text for field in ("command", "args") for text in value.get(field) or ()]
    return any(SAID.search(str(text)) for text in said)


def check_address(world: World, job: TrainingJob, pods: Pods, address: tuple[Place, str]) -> Iterator[Problem]:
    """Yield why an address leads not all ranks to the same pod."""
    place, text = address
    if not text or "$" in text:
        return
    if ENDPOINT.fullmatch(text) is None:
        yield Problem(place, f"address {text!r} is no host with a port; write it as host:port")
        return
    host = text if text.count(":") > 1 else text.partition(":")[0]
    names = names_of(job, pods)
    remedy = f"; write {names.first}" if names else "; write the name of the first pod"
    if OWN.fullmatch(host):
        if BRANCHES.search(str(place.manifest.get(*place.path))):
            return
        yield Problem(place, f"{host} is each pod itself, so the ranks never meet{remedy}")
    elif names and (why := names_no_pod(world, job, names, host)):
        yield Problem(place, f"{why}{remedy}")


def names_no_pod(world: World, job: TrainingJob, names: Names, host: str) -> str:
    """Return why a host is not the name of one pod, or an empty text."""
    head, _, rest = host.rstrip(".").partition(".")
    in_service = rest.split(".")[0] == job.namespace or not rest
    if in_service and any(item.name == head for item in world.of("Service", namespace=job.namespace, group="")):
        return f"{host!r} is a Service of all pods" if names.domain == head else ""
    if not names.domain:
        if names.may_be(head) and not in_service and not rest.startswith("svc"):
            return f"{host!r} does not resolve, since {head!r} is a Service without a domain"
        return f"no pod is called {head!r}" if names.meant(head) and not names.may_be(head) else ""
    domain = rest.split(".")[0]
    if head == names.domain and in_service:
        return f"{host!r} is a Service of all pods"
    if names.may_be(head) and domain != names.domain:
        if any(item.name == domain for item in world.of("Service", namespace=job.namespace, group="")):
            return ""  # net-subdomain tells that the pods have not the subdomain of this Service
        return f"{host!r} does not resolve, since the pods have the domain {names.domain!r}"
    others = (other.name for other in world.training_jobs() if other.manifest is not job.manifest)
    told = job.manifest.kind == "JobSet" and OF_JOBSET.fullmatch(head.removeprefix(job.name))
    if domain != names.domain or names.may_be(head) or told or any(head.startswith(f"{name}-") for name in others):
        return ""
    return f"no pod is called {head!r}"


def names_of(job: TrainingJob, pods: Pods) -> Names | None:
    """Return the names of a job's pods; None where it is not known how they are called."""
    kind, name = job.manifest.kind, job.name
    if not name or job.is_scheduled or pods.spec.get("hostname"):
        return None
    if kind == "Job" and job.manifest.group == "batch":
        domain = pods.spec.get("subdomain")
        most = whole_number(str(job.manifest.get("spec", "completions")))
        if not isinstance(domain, str) or most is None:
            return None
        return numbered(domain, {name: most}, f"{name}-0.{domain}")
    if kind == "JobSet":
        domain = job.manifest.text("spec", "network", "subdomain") or name
        roles = {}
        for path, role in job.manifest.at("spec", "replicatedJobs", "*", "name", of=str):
            replicas = job.manifest.get(*path[:-1], "replicas")
            for index in range(min(replicas if isinstance(replicas, int) else 1, 1000)):
                roles[f"{name}-{role}-{index}"] = 100_000
        return numbered(domain, roles, f"{next(iter(roles), name)}-0.{domain}")
    if kind == "PyTorchJob":
        counts = {f"{name}-{role}": 0 for role in ("master", "worker")}
        counts |= {f"{name}-{found.name}": found.count for found in job.pod_sets()}
        return numbered("", counts, f"{name}-{'master' if counts[f'{name}-master'] else 'worker'}-0")
    return None


def numbered(domain: str, counts: Mapping[str, int], first: str) -> Names:
    """Return names that end in the index of a pod, below the number of pods with the text before it."""

    def may_be(host: str) -> bool:
        before, _, index = host.rpartition("-")
        return index.isdecimal() and int(index) < counts.get(before, 0)

    return Names(domain, first, may_be, lambda host: any(f"{host}-".startswith(f"{name}-") for name in counts))
