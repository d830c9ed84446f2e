"""Names of pods resolve: their subdomain is the name of the headless Service that selects them.

Why: Otherwise cluster DNS has no name for these pods. The ranks wait for the first one until they time out.
Fix: set subdomain to the name of the Service, or rename the Service.
Source: kubernetes v1.35 staging/src/k8s.io/endpointslice/util/controller_utils.go ShouldSetHostname
"""

import re
from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Pods, Problem, Severity, TrainingJob, World, strings, texts

SEVERITY = Severity.WARNING
JOB_NAME = ("job-name", "batch.kubernetes.io/job-name")


def check(world: World) -> Iterator[Problem]:
    """Look at pods, and those of Jobs, that a headless Service of another name selects."""
    for job in world.workloads():
        if (job.manifest.group, job.manifest.kind) not in {("batch", "Job"), ("", "Pod")}:
            continue
        services = [item for item in world.of("Service", namespace=job.namespace, group="") if is_headless(item)]
        for pods in job.pod_sets():
            subdomain = pods.spec.get("subdomain")
            named = dict.fromkeys(JOB_NAME, job.name) if job.manifest.kind == "Job" else {}
            own = {**labels(pods), **named}
            if not subdomain:
                yield from nameless(job, pods, [service for service in services if selects(service, own)])
                continue
            service = next((service for service in services if service.name == subdomain), None)
            if service is not None:
                yield from unselected(service, own)
                continue
            meant = next((service.name for service in services if selects(service, own)), None)
            if meant:
                message = f"no headless Service is named {subdomain!r}, but {meant!r} selects these pods"
                yield Problem(pods.place("spec", "subdomain"), f"{message}; set subdomain: {meant}")


def nameless(job: TrainingJob, pods: Pods, services: list[Manifest]) -> Iterator[Problem]:
    """Yield host names of an Indexed Job's own pods that have none, since the pods have no subdomain."""
    names = "|".join(re.escape(service.name) for service in services)
    host = re.compile(rf"(?<![\w.-]){re.escape(job.name)}-\d+\.(?P<service>{names})(?![\w-])")
    said = [(text.place, text.text) for path, container in pods.containers() for text in texts(job, path, container)]
    said += [(variable.place, variable.value or "") for variable in pods.variables()]
    for place, text in said if names and job.manifest.kind == "Job" else ():
        if found := host.search(text):
            message = f"{found[0]!r} does not resolve, since the pods have no subdomain"
            yield Problem(place, f"{message}; set subdomain: {found['service']}")
            return


def unselected(service: Manifest, own: dict[str, str]) -> Iterator[Problem]:
    """Yield the selector of a Service that misses the pods of its name, where a controller adds no such label."""
    wanted = strings(service.get("spec", "selector"))
    for key, value in wanted.items():
        if "/" not in key and own.get(key) != value:
            has = f"have {key}: {own[key]}" if key in own else f"have no {key}"
            message = f"the Service selects {key}: {value}, but its pods {has}, so their names do not resolve"
            yield Problem(Place(service, ("spec", "selector", key)), f"{message}; use one label")
            return


def is_headless(service: Manifest) -> bool:
    """Whether a Service gives each of its pods a name of its own."""
    return service.text("spec", "clusterIP") == "None"


def labels(pods: Pods) -> dict[str, str]:
    """Return the labels of a template that are strings."""
    return dict(strings(pods.manifest.get(*pods.template, "metadata", "labels")))


def selects(service: Manifest, has: dict[str, str]) -> bool:
    """Whether a Service selects pods with these labels; one without a selector selects none."""
    wanted = strings(service.get("spec", "selector"))
    return bool(wanted) and wanted.items() <= has.items()
