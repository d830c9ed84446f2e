"""Prerequisites of software that somebody else installs on the cluster: operators, runtimes, network plugin."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.system import vendored
from trainyard.base.system.data import own_folder
from trainyard.base.versions import nearest
from trainyard.render.clusters import folders
from trainyard.render.kinds import available
from trainyard.render.operators.base import Site as OperatorSite
from trainyard.render.operators.install import sites
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text
from trainyard.render.prerequisites.gpu_operator import wanted_values
from trainyard.render.prerequisites.questions import Definitions, Existing, Webhooks, namespaced
from trainyard.render.sizing.software import GPU_OPERATOR, refusal
from trainyard.specs.distributions import Beside

RULES = {
    "eks": 'set `enableNetworkPolicy: "true"` for the VPC CNI',
    "gke-cos": "switch on Dataplane V2 or network policy enforcement",
    "gke-ubuntu": "switch on Dataplane V2 or network policy enforcement",
    "openshift": "nothing with OVN-Kubernetes, which applies them",
    "k3s": "nothing, unless the server runs with --disable-network-policy",
    "aks": "create the cluster with a network policy engine, such as Cilium",
}
"""How a provider's network plugin is made to apply NetworkPolicies: EKS user guide (eks-networking-add-ons.adoc), GKE
and AKS documentation, network policies; OpenShift 4.20, about network policy; docs.k3s.io, networking services."""


def operators(site: Site) -> Iterator[Prerequisite]:
    """Yield the operators that the cluster's file says somebody else installs, by the definitions that are used."""
    used = kinds_used(site)
    for operator in sites(site.cluster):
        if operator.choice.managed or not operator.facts.crds or operator.name in site.cluster.left_out:
            continue
        known, every = served(operator), dict.fromkeys(operator.facts.crds, ())
        needed = {name: versions for (name, kind), versions in known.items() if kind in used}
        names = [f"`{name}`" for name in needed]
        yield Prerequisite(
            f"{operator.name} {operator.version} is there" + (f", with {names_text(names)}" if names else ""),
            "`managed: false` says that somebody else installs it",
            ("operators", operator.name),
            installing(site, operator),
            Definitions(needed or every, some=not needed),
        )


def companions(site: Site) -> Iterator[Prerequisite]:
    """Yield the operators that those of the distribution's own catalogue need, each once."""
    found: dict[str, tuple[str, Beside]] = {}
    for operator in sites(site.cluster):
        excluded = refusal(site.cluster.distribution, operator.name)
        for beside in excluded.beside if excluded is not None else ():
            found.setdefault(beside.name, (operator.name, beside))
    for name, beside in found.values():
        yield Prerequisite(
            f"{beside.name} is there, with `{beside.definition}`",
            beside.why,
            ("operators", name),
            beside.get,
            Definitions({beside.definition: ()}),
        )


WEBHOOKS = "`kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o wide`"


def webhooks(site: Site) -> Iterator[Prerequisite]:
    """Yield the admission webhooks of operators that somebody else installs, then those of everybody."""
    for operator in sites(site.cluster):
        groups = tuple(sorted({crd.partition(".")[2] for crd in operator.facts.crds}))
        if operator.choice.managed or not operator.facts.webhooks:
            continue
        yield Prerequisite(
            f"the admission webhooks of {operator.name} answer",
            "objects of its kinds are refused while a webhook does not answer, and pass unchecked without one",
            ("operators", operator.name),
            "install it with its webhooks, and let the API server reach their pods",
            Webhooks(groups, operator.facts.webhooks),
            look=WEBHOOKS,
        )
    yield Prerequisite(
        "every admission webhook of the cluster that must answer has a Service with pods",
        "the API server refuses what such a webhook would check, pods of jobs among it",
        ("operators",),
        "start the pods of the webhook, or delete the configuration that a removed program left behind",
        Webhooks(),
        look=WEBHOOKS,
    )


def kinds_used(site: Site) -> set[str]:
    """Return `group/Kind` of what is rendered for the cluster, and of the kinds that jobs can have on it."""
    rendered = (resource for folder in folders(site.specs, site.name).values() for resource in folder)
    jobs = {f"{kind.group}/{kind.object_kind}" for kind in available(site.cluster)}
    return jobs | {f"{resource.identity.group}/{resource.kind}" for resource in rendered}


def served(operator: OperatorSite) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the versions that an operator's release serves, by definition and `group/Kind`."""
    schemas = own_folder("schemas")
    carried = vendored.folders(schemas / operator.name)
    entries = vendored.kinds(schemas, operator.name, nearest(operator.known_version, carried)) if carried else []
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for entry in entries:
        key = f"{entry['plural']}.{entry['group']}", f"{entry['group']}/{entry['kind']}"
        if key[0] in operator.facts.crds:
            found[key] = (*found.get(key, ()), entry["version"])
    return found


def installing(site: Site, operator: OperatorSite) -> str:
    """Return how an operator gets there that the cluster's file leaves to others."""
    excluded = refusal(site.cluster.distribution, operator.name)
    if excluded is not None:
        return excluded.get or f"install it as the distribution does: {excluded.why}"
    values = wanted_values(site.cluster) if operator.name == GPU_OPERATOR else ""
    return f"install {source(operator)}{values}, or remove `managed: false`"


def source(operator: OperatorSite) -> str:
    """Return where an operator is published."""
    chart, manifests = operator.facts.chart, operator.facts.manifests
    if chart is not None:
        return f"chart {chart.name} of {chart.repository}"
    return f"{manifests.path} of {manifests.repository}" if manifests is not None else operator.name


def runtimes(site: Site) -> Iterator[Prerequisite]:
    """Yield the RuntimeClasses that jobs may name."""
    for index, name in enumerate(site.cluster.runtime_classes):
        yield Prerequisite(
            f"RuntimeClass `{name}` is there",
            "patches of jobs may name it, and pods that do are refused without it",
            ("runtimeClasses", index),
            "install the runtime with its RuntimeClass",
            Existing("RuntimeClass", name, f"/apis/node.k8s.io/v1/runtimeclasses/{name}"),
        )


def network_policies(site: Site) -> Iterator[Prerequisite]:
    """Yield a network plugin that applies NetworkPolicies."""
    if site.teams:
        yield Prerequisite(
            "the network plugin applies NetworkPolicies",
            "they keep teams apart; a plugin without them ignores them in silence",
            ("system", "distribution") if site.cluster.system.distribution else ("queues",),
            RULES.get(site.cluster.system.distribution or "", "install a plugin that does, such as Cilium or Calico"),
            look="a pod of one team must not reach a port of another team's pod",
        )


def pipelines(site: Site) -> Iterator[Prerequisite]:
    """Yield Kubeflow Pipelines, and the accounts of its steps."""
    found = site.cluster.pipelines
    if found is None:
        return
    yield Prerequisite(
        "Kubeflow Pipelines is there, with `workflows.argoproj.io`",
        "jobs with `after` are steps of its pipelines",
        ("pipelines",),
        "install it (kubeflow.org, Pipelines, installation)",
        Definitions({"workflows.argoproj.io": ()}),
    )
    cluster = site.cluster
    where = {team: found.namespace_of(team, cluster.namespace_of) for team in site.teams}
    places = sorted({place for place in where.values() if place is not None} - {*cluster.namespaces(site.teams)})
    for place in places:
        yield Prerequisite(
            f"service account `{place}/{found.service_account}` is there",
            "steps of pipelines start runs as this account",
            ("pipelines", "namespaces") if found.namespaces else ("pipelines", "namespace"),
            f"create the profile `{place}` in Kubeflow",
            namespaced("ServiceAccount", "serviceaccounts", place, found.service_account),
        )
    own = names_text([team for team, place in where.items() if place == cluster.namespace_of(team)])
    if own and found.service_account not in {name for team in site.teams.values() for name in team.accounts}:
        yield Prerequisite(
            f"service account `{found.service_account}` is in the namespaces of teams {own}",
            "steps of pipelines start runs as this account",
            ("pipelines", "serviceAccount"),
            f"`kubectl create serviceaccount -n TEAM {found.service_account}`",
            look=f"`kubectl get serviceaccount -A --field-selector metadata.name={found.service_account}`",
        )
