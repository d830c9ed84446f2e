"""Prerequisites of monitoring: what a Prometheus that is there already must have, so that alerts can fire."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.clusters import monitors
from trainyard.render.operators.kube_prometheus_stack import allowed_labels, states
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text
from trainyard.render.prerequisites.questions import Definitions, Existing, namespaced
from trainyard.specs.models.monitoring import ExistingPrometheus

AT = ("monitoring", "existing")
GROUP = monitors.API.partition("/")[0]


def every(site: Site) -> Iterator[Prerequisite]:
    """Yield the settings of Prometheus, kube-state-metrics and node-exporter, where somebody else installs them."""
    monitoring = site.cluster.monitoring
    if monitoring is None:
        return
    if monitoring.existing is not None:
        yield from prometheus(site, monitoring.existing)
        yield from state_metrics(site)
        yield nodes()
    yield receivers(site)


def prometheus(site: Site, existing: ExistingPrometheus) -> Iterator[Prerequisite]:
    """Yield the operator with its definitions, the selectors of its Prometheus, and its rights."""
    wanted = {f"{kind.lower()}s.{GROUP}": ("v1",) for kind in monitors.KINDS}
    yield Prerequisite(
        f"Prometheus Operator is there, with {names_text([f'`{name}`' for name in wanted])}",
        "monitors and rules are objects of its kinds; Argo CD tries again until it serves them",
        AT,
        "install it, or remove `existing` and add `kube-prometheus-stack` to operators",
        Definitions(wanted),
    )
    yield Prerequisite(
        f"namespace `{existing.namespace}` has the pods of Prometheus, with label `app.kubernetes.io/name: prometheus`",
        "monitors are made there, and network policies let these pods alone through",
        (*AT, "namespace"),
        "correct the field, or let Prometheus Operator make the pods",
        Existing("Namespace", existing.namespace, f"/api/v1/namespaces/{existing.namespace}"),
    )
    pairs = ", ".join(f"`{key}: {value}`" for key, value in existing.labels.items()) or "any labels"
    yield Prerequisite(
        f"its Prometheus selects monitors and rules of namespace `{existing.namespace}` with {pairs}",
        "it ignores all others silently: no series, no alert",
        (*AT, "labels"),
        "set `podMonitorSelector`, `serviceMonitorSelector`, `ruleSelector` and their `…NamespaceSelector`",
        look=f"`kubectl get prometheus -A -o yaml | grep -A4 Selector`; `kubectl get ns {existing.namespace}`",
    )
    places = sorted({*of_operators(site), *site.cluster.namespaces(site.teams)})
    yield Prerequisite(
        f"its Prometheus may list pods, services and endpoint slices in namespaces {names_text(places)}",
        "it finds no target otherwise; kube-prometheus gives these rights for three namespaces alone",
        AT,
        "bind its service account to a ClusterRole with get, list and watch of these kinds",
        look="`kubectl auth can-i list pods -A --as system:serviceaccount:NAMESPACE:ACCOUNT`",
    )
    if existing.service_account is None:
        yield Prerequisite(
            "its Prometheus may get `/metrics` of operators, with its own token",
            "Kueue, JobSet and Trainer ask the API server for this right, and answer 403 without it",
            AT,
            "set `serviceAccount`, or bind its account to a ClusterRole with the nonResourceURL `/metrics`",
            look="`kubectl auth can-i get /metrics --as system:serviceaccount:NAMESPACE:ACCOUNT`",
        )
    else:
        account = existing.service_account
        yield Prerequisite(
            f"service account `{account}` of namespace `{existing.namespace}` is that of Prometheus",
            "it gets the right to read metrics of operators; another account would answer nothing",
            (*AT, "serviceAccount"),
            "correct the field",
            namespaced("ServiceAccount", "serviceaccounts", existing.namespace, account),
        )


def of_operators(site: Site) -> Iterator[str]:
    """Yield the namespaces of exporters that stand beside their operator."""
    for exporter in monitors.there(site.cluster).values():
        if exporter.scrape is not None and not exporter.scrape.teams:
            found = monitors.places(site.cluster, exporter, exporter.scrape)
            yield from found.get("matchNames", ())


def state_metrics(site: Site) -> Iterator[Prerequisite]:
    """Yield the labels and states of objects that kube-state-metrics must tell."""
    labels = ",".join(allowed_labels(site.cluster))
    yield Prerequisite(
        f"kube-state-metrics tells labels of runs: `--metric-labels-allowlist={labels}`",
        "by default it tells no label, so that no series belongs to a run or team",
        AT,
        "set `metricLabelsAllowlist` of its chart; 2.10 or newer",
        look="`kubectl get deployment -A -l app.kubernetes.io/name=kube-state-metrics -o yaml | grep allowlist`",
    )
    kinds = [f"{one['plural']}.{one['groupVersionKind']['group']}" for one in states(site.cluster)]
    if kinds:
        yield Prerequisite(
            f"kube-state-metrics tells the state of {names_text([f'`{kind}`' for kind in kinds])}",
            "alerts on runs that wait, are set aside or restart read it, and have no series otherwise",
            AT,
            "give it the configuration of docs/monitoring.md, and the right to list and watch these kinds",
            look="`kubectl get --raw` of its Service prints `kube_customresource_workload_info`",
        )


def nodes() -> Prerequisite:
    """Return node-exporter, with the name of its node in each series."""
    return Prerequisite(
        "node-exporter runs on all nodes, with its collector `infiniband`, and the label `node` on its series",
        "alerts on links of the fabric read it; the collector is on by default",
        AT,
        "relabel `__meta_kubernetes_pod_node_name` to `node` in its monitor, and let it tolerate all taints",
        look="`kubectl get daemonset -A -l app.kubernetes.io/name=node-exporter`",
    )


def receivers(site: Site) -> Prerequisite:
    """Return the receivers of alerts, which nothing here says."""
    existing = site.cluster.monitoring is not None and site.cluster.monitoring.existing is not None
    return Prerequisite(
        "Alertmanager sends alerts to somebody, by their labels `severity` and `team`",
        "otherwise nobody reads them; the configuration that Alertmanager comes with sends them nowhere",
        ("monitoring", "alerts"),
        "make an AlertmanagerConfig, or configure Alertmanager where it is installed"
        if existing
        else "set `alertmanager.config` of kube-prometheus-stack, with secrets by file, or make an AlertmanagerConfig",
        look="`amtool config routes show`",
    )
