"""Whether a model that is named for the Hugging Face Hub can be in the cache of a job that stays offline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.policies.folders import key, within
from trainyard.judge.preflight.job.options import program_options
from trainyard.judge.preflight.job.volumes import targets
from trainyard.judge.preflight.subjects import JOB, OneJob
from trainyard.specs import Job

OFFLINE = Rule(
    id="run/offline-cache",
    title="A job that keeps Hugging Face offline has its cache on a volume.",
    why="scratch and emptyDir volumes are empty when a pod starts, and nothing is downloaded into them",
    fix="put HF_HOME on a volume that has the model, name a folder instead, or remove the variable",
    source="huggingface_hub v0.30 src/huggingface_hub/constants.py; docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)

SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
ON = frozenset({"1", "ON", "YES", "TRUE"})
CACHES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME")
"""Variables that say where the cache is, the one that counts first."""

SCRATCH = "/scratch"
MODELS = frozenset(
    (
        *("model", "modelid", "modelname", "modelnameorpath", "modelpath", "pretrainedmodelnameorpath", "pretrained"),
        *("base", "basemodel", "tokenizer", "tokenizername", "tokenizernameorpath"),
    )
)
"""Options by which programs are told a model, in letters alone."""

REPOSITORY = re.compile(r"[A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*")
"""A model of the Hub: an organization and a name, which a relative path may look like as well."""

FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]*$")
"""The end of a file's name."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield the switch of a job that names a model of the Hub, whose cache is empty when it starts."""
    job = one.file.job
    switch = next((name for name in SWITCHES if job.env.get(name, "").strip().upper() in ON), None)
    cache = next((job.env[name] for name in CACHES if name in job.env), None)
    if switch is None or cache is None or fills(job) or not is_empty(job, cache):
        return
    contents = one.run.contents if one.run is not None else {}
    model = named_model(job, contents)
    if model is not None:
        message = f"{switch} forbids the download of {model!r}, and cache {cache!r} is empty at start"
        yield OFFLINE.at(one.file.source, ("env", switch), f"{message}; put HF_HOME on a volume")


def fills(job: Job) -> bool:
    """Whether something may fill the cache before the program starts, or besides it."""
    patched = any("initContainers" in str(patch.merge) for patch in job.patches)
    return bool(job.init_containers or job.containers or job.command is not None or patched)


def is_empty(job: Job, cache: str) -> bool:
    """Whether a folder is in scratch or an emptyDir, and in no volume that is mounted further down."""
    fresh = {volume.get("name") for volume in job.volumes if "emptyDir" in volume}
    new = {mount.mount_path.rstrip("/") for mount in job.mounts if mount.volume is not None and mount.volume in fresh}
    new |= {SCRATCH} if job.scratch else set()
    around = [path.rstrip("/") for path, _ in targets(job) if within(cache, path.rstrip("/"))]
    around += [folder for folder in new if within(cache, folder)]
    return max(around, key=len, default="") in new


def named_model(job: Job, contents: Mapping[str, str]) -> str | None:
    """Return the first model of the Hub that a job's options name."""
    for _, option, value in program_options(job, contents):
        name = re.sub(r"[^a-z]", "", key(option).lower())
        if name in MODELS and REPOSITORY.fullmatch(value) and not FILE.search(value):
            return value
    return None
