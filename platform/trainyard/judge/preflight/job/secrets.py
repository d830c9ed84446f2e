"""Secrets, ConfigMaps and service accounts that a job names are its team's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.system.repository import team_file
from trainyard.judge.preflight.job.patches import fields
from trainyard.judge.preflight.subjects import NAMED, OneJob
from trainyard.specs.accounts import accounts_on
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import ServiceAccount, Team
from trainyard.specs.sources import JobFile

SECRET = Rule(
    id="spec/unknown-secret",
    title="The Secrets of a job are listed in its team's file.",
    why="a pod whose Secret is missing never starts (CreateContainerConfigError)",
    fix="list the secret in platform/teams/<team>.yaml, and create it in the namespace",
    source="kubernetes v1.35 pkg/kubelet/kubelet_pods.go; docs/teams.md",
)
ACCOUNT = Rule(
    id="spec/unknown-service-account",
    title="The service account of a job is listed in its team's file.",
    why="Kubernetes refuses pods of a missing account, so the job gets none",
    fix="list the account in platform/teams/<team>.yaml",
    source="kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go",
)
CONFIG_MAP = Rule(
    id="spec/unknown-config-map",
    title="The ConfigMaps of a job are listed in its team's file.",
    why="a pod whose ConfigMap is missing never starts (CreateContainerConfigError)",
    fix="list the ConfigMap in platform/teams/<team>.yaml and create it in the namespace, or use files",
    source="kubernetes v1.35 pkg/kubelet/kubelet_pods.go; docs/teams.md",
)

EVERYWHERE = frozenset({"kube-root-ca.crt"})
"""ConfigMaps of every namespace (kubernetes v1.35 pkg/controller/certificates/rootcacertpublisher/publisher.go)."""

REFERENCES = {
    "secretKeyRef": ("secret", "name"),
    "secretRef": ("secret", "name"),
    "secret": ("secret", "secretName", "name"),
    "configMapKeyRef": ("config map", "name"),
    "configMapRef": ("config map", "name"),
    "configMap": ("config map", "name"),
}
"""What containers and volumes of Kubernetes call a Secret or a ConfigMap by (core/v1 EnvVar, EnvFrom, Volume)."""


@NAMED.check()
def check(job: OneJob) -> Iterator[Finding]:
    """Yield Secrets, ConfigMaps and accounts that a job names and its team does not list."""
    if job.team is None:
        return iter(())
    there = accounts_on(job.cluster, job.file.team, job.team) if job.cluster is not None else None
    return unlisted(job.file, job.team, there)


def unlisted(file: JobFile, team: Team, there: Mapping[str, ServiceAccount] | None = None) -> Iterator[Finding]:
    """Yield Secrets, ConfigMaps and a service account that the team does not list.

    `there` are its accounts on the job's cluster; by default those of its file.
    """
    job, listing = file.job, team_file(file.team)
    known: Mapping[str, tuple[Rule, Collection[str]]] = {
        "secret": (SECRET, team.secrets),
        "config map": (CONFIG_MAP, {*team.config_maps, *EVERYWHERE}),
    }
    for what, name, place in named_objects(job):
        rule, listed = known[what]
        if name not in listed:
            message = f"{what} {name!r} is not listed in {listing}; {did_you_mean(name, listed)}"
            yield rule.at(file.source, place, message)
    for account, place in accounts(job):
        if account not in (team.accounts if there is None else there):
            hint = did_you_mean(account, team.accounts)
            message = f"service account {account!r} is not listed in {listing}; {hint}"
            yield ACCOUNT.at(file.source, place, message)


def accounts(job: Job) -> Iterator[tuple[str, Path]]:
    """Yield the service accounts that a job names, each with its place: in its own field, and in patches of pods."""
    if job.service_account is not None:
        yield job.service_account, ("serviceAccount",)
    for index, patch in enumerate(job.patches):
        for path, account in fields(patch.merge):
            if path[-1] in {"serviceAccountName", "serviceAccount"} and isinstance(account, str):
                yield account, ("patches", index, "merge", *path)


def named_objects(job: Job) -> Iterator[tuple[str, str, Path]]:
    """Yield the objects that a job names, each with its kind and its place: in our fields, and in Kubernetes' own."""
    for variable, reference in job.secrets.items():
        yield "secret", reference.partition("/")[0], ("secrets", variable)
    for index, secret in enumerate(job.image_pull_secrets):
        yield "secret", secret, ("imagePullSecrets", index)
    sources: list[tuple[str, Iterable[Any]]] = [("envFrom", job.env_from), ("mounts", job.mounts)]
    for field, listed in sources:
        for index, file in enumerate(listed):
            if file.secret:
                yield "secret", file.secret, (field, index, "secret")
            if file.config_map:
                yield "config map", file.config_map, (field, index, "configMap")
    for field, own in (("containers", job.containers), ("initContainers", job.init_containers)):
        yield from objects_inside(own, (field,))
    yield from objects_inside(job.volumes, ("volumes",))


def objects_inside(value: Any, path: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield the objects that a part of a pod names, without optional ones."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in REFERENCES and isinstance(item, Mapping):
                what, *fields = REFERENCES[key]
                field = next((one_field for one_field in fields if isinstance(item.get(one_field), str)), None)
                if field is not None and item.get("optional") is not True:
                    yield what, item[field], (*path, key, field)
            else:
                yield from objects_inside(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from objects_inside(item, (*path, index))
