"""Whether a job saves its checkpoints where they end with the pod, though it has a volume for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding
from trainyard.judge.policies.folders import LEFT, key, within
from trainyard.judge.preflight.job.commands import texts
from trainyard.judge.preflight.job.options import brought, program_options
from trainyard.judge.preflight.job.unmounted import IMAGE, UNMOUNTED, Named, folders, instead, variables
from trainyard.judge.preflight.job.unsaved import ELSEWHERE, STORES, VOLATILE
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.render.parts.storage import LAUNCH_FOLDER
from trainyard.specs import Job, Repository
from trainyard.upstream.trainers import marking, saving, within_others
from trainyard.upstream.trainers.settings import SETTINGS, flat

OWN_FOLDER = re.compile(r"\.{1,2}(?:/|$)|[A-Za-z0-9_][\w.-]*/")
"""The beginning of a folder below the working folder."""

CHECKPOINTS = re.compile(r"checkpoint|ckpt|^save")
"""Names that only checkpoints have."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield folders that end with the pod, of a job that names the folder of its checkpoints nowhere."""
    job = one.file.job
    contents = one.run.contents if one.run is not None else {}
    if job.runtime or any("volume" in str(patch.merge) for patch in job.patches) or saves_elsewhere(job, contents):
        return
    for named in fleeting(job, one.specs.repository, contents):
        yield UNMOUNTED.at(one.file.source, named.path, f"{fleeting_text(named)}; {instead(job, named)}")


def fleeting(job: Job, repository: Repository, contents: Mapping[str, str]) -> Iterator[Named]:
    """Yield folders of a job's checkpoints that end with the pod, though it has a volume for them.

    Names that other programs use for what need not last count only beside options that no other program has.
    """
    said = program_options(job, contents)
    known = any(key(item.option) in marking() for item in said)
    saves = saving() | frozenset(repository.folders.saves)
    for path, option, value in (*said, *variables(job)):
        name = key(option)
        if name not in saves - within_others() or not (known or CHECKPOINTS.search(name)):
            continue
        if is_volatile(job, value) or is_of_image(job, value):
            yield Named(path, option, value, saves=True)


def is_volatile(job: Job, value: str) -> bool:
    """Say whether a folder is one for what need not last, or on a volume that ends with the pod."""
    if not value.startswith("/") or "$" in value:
        return False
    folder = posixpath.normpath(value)
    volatile = {volume.get("name") for volume in job.volumes if not VOLATILE.isdisjoint(volume)}
    mounts = {mount.mount_path.rstrip("/"): mount.volume in volatile for mount in job.mounts}
    inside = [path for path in folders(job) if within(folder, path)]
    if not inside:
        return any(within(folder, top) for top in LEFT) and not within(folder, "/root")
    return mounts.get(max(inside, key=len), False)


def is_of_image(job: Job, value: str) -> bool:
    """Say whether a folder is below the image's working folder, and no volume may be mounted there."""
    covered = any(within(path, top) for path in folders(job) for top in IMAGE if path != LAUNCH_FOLDER)
    return job.working_dir is None and not covered and OWN_FOLDER.match(value) is not None


def saves_elsewhere(job: Job, contents: Mapping[str, str]) -> bool:
    """Say whether a job has no volume for checkpoints, or names that volume, or a store elsewhere, somewhere."""
    if job.checkpoint is None:
        return True
    own = (job.checkpoint.mount_path, "CHECKPOINT_DIR")
    said = [*(text for _, text in texts(job)), *in_force(job, contents)]
    said += [str(container) for container in (*job.containers, *job.init_containers)]
    stores = any(STORES.match(name) for name in (*job.env, *job.secrets))
    return stores or any(ELSEWHERE.search(text) or any(name in text for name in own) for text in said)


def in_force(job: Job, contents: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts of a job's small files, settings without the values that its command line replaces."""
    given = {key(item.option): item.value for item in program_options(job, {})}
    for _, file, text in brought(job, contents):
        told = flat(file, text) if file.endswith(SETTINGS) else {}
        rest = text
        for name, value in told.items():
            if value and given.get(key(name)):
                rest = rest.replace(value, "", 1)
        yield rest


def fleeting_text(named: Named) -> str:
    """Say what follows from a folder that ends with the pod."""
    if named.folder.startswith("/"):
        return f"{named.name} saves into {named.folder!r}, which is lost with the pod"
    return f"{named.name} saves into {named.folder!r} in the image's working folder, which is lost with the pod"
