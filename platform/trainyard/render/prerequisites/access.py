"""Prerequisites outside of the cluster's objects: Argo CD and its sources, registries, people, and teams' Secrets."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.system.repository import SETTINGS, team_file
from trainyard.render.clusters.settings import is_local
from trainyard.render.operators.install import installed_operators
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text
from trainyard.render.prerequisites.questions import Definitions, Existing, namespaced

ARGO = {"applications.argoproj.io": ("v1alpha1",), "appprojects.argoproj.io": ("v1alpha1",)}


def argocd(site: Site) -> Iterator[Prerequisite]:
    """Yield Argo CD, the cluster in it, and the two objects that start all others."""
    choice, repository = site.cluster.argocd, site.specs.repository
    where = choice.destination.name or choice.destination.server
    local = is_local(site.cluster)
    yield Prerequisite(
        f"Argo CD {choice.version} runs {'on this cluster' if local else 'elsewhere'}, in namespace {choice.namespace}",
        "it applies everything below generated/",
        ("argocd", "version"),
        f"install chart argo-cd of https://argoproj.github.io/argo-helm (Argo CD {choice.version})",
        Definitions(ARGO) if local else None,
        look="" if local else "`argocd version`",
    )
    if not local:
        yield Prerequisite(
            f"Argo CD knows this cluster as `{where}`",
            "Applications name it as their destination",
            ("argocd", "destination"),
            f"`argocd cluster add CONTEXT{f' --name {where}' if choice.destination.name else ''}`",
            look=f"`argocd cluster get {where}`",
        )
    yield Prerequisite(
        f"Argo CD can read `{repository.revision}` of {repository.repo_url}",
        "it reads the rendered files from there",
        ("repoURL",),
        f"`argocd repo add {repository.repo_url}`",
        look=f"`argocd repo get {repository.repo_url}`",
        file=SETTINGS,
    )
    charts = {site_.facts.chart or site_.facts.manifests for site_, _ in installed_operators(site.cluster)}
    hosts = sorted({chart.repository.removeprefix("https://").partition("/")[0] for chart in charts if chart})
    if hosts:
        yield Prerequisite(
            f"Argo CD reaches {', '.join(hosts)}",
            "charts and manifests of the cluster's operators come from there",
            ("operators",),
            "open the firewall, or point Argo CD to a mirror in its repository settings",
            look="`argocd app list` shows no ComparisonError",
        )
    root = f"generated/{site.name}/argocd"
    yield Prerequisite(
        f"project and Application `{site.name}-argocd` are applied where Argo CD runs",
        "this Application creates all others",
        ("argocd",),
        f"`kubectl apply -n {choice.namespace} -f {root}/appproject.{site.name}-argocd.yaml"
        f" -f {root}/application.{site.name}-argocd.yaml`",
        Existing(
            "Application",
            f"{choice.namespace}/{site.name}-argocd",
            f"/apis/argoproj.io/v1alpha1/namespaces/{choice.namespace}/applications/{site.name}-argocd",
        )
        if local
        else None,
        look="" if local else f"`argocd app get {site.name}-argocd`",
    )


def registries(site: Site) -> Iterator[Prerequisite]:
    """Yield the registries that images of jobs come from."""
    names = site.specs.repository.registries
    if names:
        yield Prerequisite(
            f"nodes can pull from {names_text(list(names))}",
            "images of jobs come from there; jobs name `imagePullSecrets` where the registry asks for a login",
            ("registries",),
            "open the registry to the nodes, or configure credentials of the container runtime",
            look=" or ".join(dict.fromkeys(site.cluster.distribution_of(name).pull for name in site.cluster.pools)),
            file=SETTINGS,
        )


def people(site: Site) -> Iterator[Prerequisite]:
    """Yield the groups of teams at the identity provider."""
    groups = sorted({team.group for team in site.teams.values()})
    if groups:
        yield Prerequisite(
            f"the identity provider has the group{'s' if len(groups) > 1 else ''} {', '.join(groups)}",
            "roles of the teams' namespaces and of Argo CD's projects are bound to them",
            ("group",),
            "create the groups, and have API server and Argo CD read them from the provider's tokens",
            look="`kubectl auth whoami`, as a member, shows the group",
            file=team_file(next(iter(site.teams))),
        )


def secrets(site: Site) -> Iterator[Prerequisite]:
    """Yield Secrets and ConfigMaps that jobs of a team may name, and namespaces that its pods may reach."""
    for name, team in site.teams.items():
        place = site.cluster.namespace_of(name)
        kinds = (
            ("Secret", "secrets", team.secrets, "secrets"),
            ("ConfigMap", "configmaps", team.config_maps, "configMaps"),
        )
        for kind, plural, names, field in kinds:
            for index, held in enumerate(names):
                yield Prerequisite(
                    f"{kind} `{place}/{held}` is there",
                    "pods of jobs that name it do not start without it",
                    (field, index),
                    f"`kubectl create {'secret generic' if kind == 'Secret' else 'configmap'} -n {place} {held}"
                    " --from-literal=KEY=VALUE`",
                    namespaced(kind, plural, place, held),
                    file=team_file(name),
                    for_jobs=True,
                )
        for index, egress in team.opens(site.name):
            if egress.namespace is not None and site.cluster.team_in(egress.namespace) is None:
                yield Prerequisite(
                    f"namespace `{egress.namespace}` is there, with the pods that team {name} reaches",
                    "the team's NetworkPolicy opens it",
                    ("egress", index),
                    "install what runs there, or remove the entry",
                    Existing("Namespace", egress.namespace, f"/api/v1/namespaces/{egress.namespace}"),
                    file=team_file(name),
                )


def identities(site: Site) -> Iterator[Prerequisite]:
    """Yield identities at the provider that service accounts of teams name."""
    for name, team in site.teams.items():
        place = site.cluster.namespace_of(name)
        for account, said in team.accounts.items():
            for key, value in said.annotations.items():
                yield Prerequisite(
                    f"the provider trusts service account `{place}/{account}` as `{value}`",
                    f"pods of this account get the identity by `{key}`",
                    ("serviceAccounts", account, "annotations", key),
                    "create the identity at the provider, and let this account use it",
                    look="call the provider from a pod of the account",
                    file=team_file(name),
                )
