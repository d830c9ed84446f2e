"""The subdomain of pods must be the name of the headless Service that selects them.

Why: Otherwise cluster DNS has no name for these pods. The ranks wait for the first one until they time out.
Fix: set subdomain to the name of the Service, or rename the Service.
Source: kubernetes v1.35 staging/src/k8s.io/endpointslice/util/controller_utils.go ShouldSetHostname
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Pods, Problem, Severity, World, strings

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
            if not subdomain or any(service.name == subdomain for service in services):
                continue
            named = dict.fromkeys(JOB_NAME, job.name) if job.manifest.kind == "Job" else {}
            meant = next((service.name for service in services if selects(service, {**labels(pods), **named})), None)
            if meant:
                message = f"no headless Service is named {subdomain!r}, but {meant!r} selects these pods"
                yield Problem(pods.place("spec", "subdomain"), f"{message}; set subdomain: {meant}")


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
