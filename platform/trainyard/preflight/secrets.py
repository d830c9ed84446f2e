"""Secrets, ConfigMaps and service accounts that a job names are its team's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from trainyard.documents import Path
from trainyard.findings import Finding, did_you_mean
from trainyard.preflight.patches import fields
from trainyard.rules import Rule
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.sources import JobFile
from trainyard.system.repository import team_file

SECRET = Rule(
    id="spec/unknown-secret",
    title="The secrets that a job names are listed in its team's file.",
    why="a pod whose Secret is missing never starts (CreateContainerConfigError)",
    fix="list the secret in platform/teams/<team>.yaml, and put it into the namespace",
    source="kubernetes v1.35 pkg/kubelet/kubelet_pods.go; docs/clusters.md",
)
ACCOUNT = Rule(
    id="spec/unknown-service-account",
    title="The service account that a job names is listed in its team's file.",
    why="pods of an account that does not exist are refused, and the job stays without any",
    fix="list the account in platform/teams/<team>.yaml",
    source="kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go",
)
CONFIG_MAP = Rule(
    id="spec/unknown-config-map",
    title="The ConfigMaps that a job names are listed in its team's file.",
    why="a pod whose ConfigMap is missing never starts (CreateContainerConfigError)",
    fix="list the ConfigMap in platform/teams/<team>.yaml, and put it into the namespace, or use files",
    source="kubernetes v1.35 pkg/kubelet/kubelet_pods.go; docs/clusters.md",
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


def check(file: JobFile, team: Team) -> Iterator[Finding]:
    """Yield Secrets, ConfigMaps and a service account that the team does not list."""
    job, listing = file.job, team_file(file.team)
    known: Mapping[str, tuple[Rule, Collection[str]]] = {
        "secret": (SECRET, team.secrets),
        "config map": (CONFIG_MAP, {*team.config_maps, *EVERYWHERE}),
    }
    for what, name, place in named(job):
        rule, listed = known[what]
        if name not in listed:
            message = f"{what} {name!r} is not listed in {listing}; {did_you_mean(name, listed)}"
            yield rule.at(file.source, place, message)
    for account, place in accounts(job):
        if account not in team.accounts:
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


def named(job: Job) -> Iterator[tuple[str, str, Path]]:
    """Yield what a job names, each with what it is and its place: in fields of ours, and in Kubernetes' own."""
    for variable, reference in job.secrets.items():
        yield "secret", reference.partition("/")[0], ("secrets", variable)
    for index, secret in enumerate(job.image_pull_secrets):
        yield "secret", secret, ("imagePullSecrets", index)
    sources: list[tuple[str, Iterable[Any]]] = [("envFrom", job.env_from), ("mounts", job.mounts)]
    for field, listed in sources:
        for index, each in enumerate(listed):
            if each.secret:
                yield "secret", each.secret, (field, index, "secret")
            if each.config_map:
                yield "config map", each.config_map, (field, index, "configMap")
    for field, own in (("containers", job.containers), ("initContainers", job.init_containers)):
        yield from inside(own, (field,))
    yield from inside(job.volumes, ("volumes",))


def inside(value: Any, path: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield what a part of a pod names, but for what it can do without."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in REFERENCES and isinstance(item, Mapping):
                what, *fields = REFERENCES[key]
                field = next((each for each in fields if isinstance(item.get(each), str)), None)
                if field is not None and item.get("optional") is not True:
                    yield what, item[field], (*path, key, field)
            else:
                yield from inside(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from inside(item, (*path, index))
