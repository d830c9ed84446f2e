"""The cluster and the registries that a job names."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.images import is_of_registry
from trainyard.base.rules import Rule
from trainyard.judge.preflight.names import UNKNOWN_CLUSTER, present
from trainyard.judge.preflight.subjects import NAMED, OneJob
from trainyard.specs.models.images import ImageWithSoftware
from trainyard.specs.models.job import Job
from trainyard.specs.models.repository import Repository
from trainyard.specs.reading.rehearsals import is_copy
from trainyard.specs.sources import JobFile

REGISTRY = Rule(
    id="spec/image-registry",
    title="Images come from registries that the repository allows.",
    why="an image from another registry runs code that nobody has reviewed",
    fix="push the image to an allowed registry, or add the registry to repository.yaml",
    source="docs/teams.md",
)


@NAMED.check()
def check(job: OneJob) -> Iterator[Finding]:
    """Yield a cluster that does not exist, and images that are not for the job."""
    file, name = job.file, job.file.job.cluster
    if job.cluster is None and f"cluster/{name}" not in job.broken and not is_copy(file, job.specs.jobs):
        names = present("cluster", job.specs.clusters, job.broken)
        message = f"cluster {name!r} does not exist; {did_you_mean(name, names)}"
        yield UNKNOWN_CLUSTER.at(file.source, ("cluster",), message)
    yield from check_image(file, job.specs.repository)


def check_image(file: JobFile, repository: Repository) -> Iterator[Finding]:
    """Yield images from a registry that the repository does not allow, those of the job's own containers too."""
    allowed = repository.registries
    for path, image in images(file.job):
        if allowed and not is_of_registry(image, allowed):
            name = image.partition("@")[0]
            message = (
                f"image {name!r} is from a registry that the repository does not allow; use one of: "
                f"{', '.join(allowed)}"
            )
            yield REGISTRY.at(file.source, path, message)


def images(job: Job) -> Iterator[tuple[Path, str]]:
    """Yield every image that a job names, with its field."""
    yield ("image", "name") if isinstance(job.image, ImageWithSoftware) else ("image",), job.image_name
    for field, containers in (("initContainers", job.init_containers), ("containers", job.containers)):
        for index, container in enumerate(containers):
            if isinstance(image := container.get("image"), str):
                yield (field, index, "image"), image
