"""Operators that do not fit together, or do not fit the cluster, are named with the way out."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, OPERATORS, everything, source
from trainyard.base.documents import dump
from trainyard.base.findings import Severity
from trainyard.judge.preflight.cluster.pairing import check
from trainyard.judge.preflight.cluster.supported import check_version
from trainyard.render.operators.kueue import frameworks
from trainyard.specs.releases import release
from trainyard.specs.releases.facts import Kubernetes


def but(*names: str, **more: Any) -> dict[str, Any]:
    """Return the operators without some, and with others."""
    added = {name.replace("_", "-"): choice for name, choice in more.items()}
    return {name: choice for name, choice in OPERATORS.items() if name not in names} | added


QUEUE = EVERYTHING["queues"]["production"]

QUEUED = [name for name in frameworks(everything()) if name != "jobset.x-k8s.io/jobset"]
OWN = dump({"integrations": {"frameworks": QUEUED}})
"""A configuration of Kueue that forgets one kind."""

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "a name that nobody has": (
        {"operators": but(kueu={"version": "0.19.2"})},
        "error pairing/unknown-operator operators.kueu",
        "operator 'kueu' does not exist in Trainyard; did you mean 'kueue'?",
    ),
    "an operator that is only known": (
        {"operators": but(argo_cd={"version": "3.5.1"})},
        "error pairing/not-installable operators.argo-cd",
        "Trainyard cannot install operator 'argo-cd'; install it yourself, and set managed: false",
    ),
    "a release that is not carried": (
        {"operators": but(kueue={"version": "0.19.0"})},
        "error pairing/unknown-release operators.kueue.version",
        "kueue 0.19.0 is unknown; known releases: 0.19.2, 0.18.6",
    ),
    "a line of releases in the place of one": (
        {"operators": but(kueue={"version": "0.19"})},
        "error pairing/unknown-release operators.kueue.version",
        "kueue 0.19 is unknown; known releases: 0.19.2, 0.18.6",
    ),
    "a release that was built again": (
        {"operators": but(kueue={"version": "0.19.2+1"})},
        "error pairing/unknown-release operators.kueue.version",
        "kueue 0.19.2+1 is unknown; known releases: 0.19.2, 0.18.6",
    ),
    "a release of somebody else that is not carried": (
        {"operators": but(cert_manager={"version": "1.99.0", "managed": False})},
        "error pairing/unknown-release operators.cert-manager.version",
        "cert-manager 1.99.0 is unknown; known releases: 1.21.2, 1.21.1",
    ),
    "a release that is said to be like another": (
        {"operators": but(kueue={"version": "0.20.0", "unlisted": {"like": "0.19.2", "reason": "read"}})},
        "warning pairing/unlisted-release operators.kueue.version",
        (
            "kueue 0.20.0 is installed; its API types and its chart's values and its webhooks and what it goes with "
            "are checked as those of 0.19.2"
        ),
    ),
    "a release that is said to be like one that is not known": (
        {"operators": but(kueue={"version": "0.20.0", "unlisted": {"like": "0.19.9", "reason": "read"}})},
        "error pairing/unknown-release operators.kueue.unlisted.like",
        "kueue 0.19.9 is unknown; known releases: 0.19.2, 0.18.6",
    ),
    "a known release that is said to be like another": (
        {"operators": but(kueue={"version": "0.18.6", "unlisted": {"like": "0.19.2", "reason": "read"}})},
        "error pairing/unknown-release operators.kueue.unlisted",
        "Trainyard knows kueue 0.18.6, so unlisted is not needed; remove it",
    ),
    "a release whose API is another": (
        {"operators": but(kueue={"version": "0.15.4"})},
        "error pairing/too-old operators.kueue.version",
        (
            "kueue 0.15.4 is too old: older releases do not serve the API version v1beta2 that queues are written "
            "in; use 0.16.0 or newer"
        ),
    ),
    "an Argo CD that was not tested on this Kubernetes": (
        {"argocd": {"version": "3.2", "destination": {"name": "test"}}},
        "warning pairing/kubernetes argocd.version",
        "argo-cd 3.2 is documented up to Kubernetes 1.34, but the cluster runs 1.35",
    ),
    "a need that is missing": (
        {"operators": but("cert-manager")},
        "error pairing/needs operators.amd-gpu-operator",
        (
            "amd-gpu-operator needs cert-manager: the webhooks of its module management get their certificates there;"
            " add it to operators"
        ),
    ),
    "a Trainer whose jobs Kueue leaves pending": (
        {"operators": but(trainer={"version": "2.1.0"})},
        "error pairing/at-least operators.trainer.version",
        "kueue works with trainer 2.2.0 or newer, but 2.1.0 is chosen",
    ),
    "a JobSet that Trainer was not built for": (
        {"operators": but(jobset={"version": "0.11.0"})},
        "error pairing/at-least operators.jobset.version",
        "trainer works with jobset 0.12.0 or newer, but 0.11.0 is chosen",
    ),
    "an operator too old for Kueue": (
        {"operators": but(mpi_operator={"version": "0.6.0", "managed": False})},
        "error pairing/at-least operators.mpi-operator.version",
        "kueue works with mpi-operator 0.8.0 or newer, but 0.6.0 is chosen",
    ),
    "two owners of MPIJob": (
        {
            "operators": but(
                mpi_operator={"version": "0.8.0", "managed": False},
                training_operator={"version": "1.9.4", "managed": False},
            )
        },
        "warning pairing/shared-definition operators.training-operator",
        (
            "training-operator and mpi-operator both install mpijobs.kubeflow.org; have training-operator installed "
            "without it, then waive this"
        ),
    ),
    "two owners of MPIJob, one of which is not ours to change": (
        {"operators": but(training_operator={"version": "1.9.4", "managed": False})},
        "warning pairing/shared-definition operators.training-operator",
        (
            "training-operator and mpi-operator both install mpijobs.kubeflow.org; have training-operator installed "
            "without it, then waive this"
        ),
    ),
    "two of node feature discovery, because the file says so": (
        {
            "operators": but(
                gpu_operator={"version": "26.7.0", "values": {"nfd": {"enabled": True}}},
                amd_gpu_operator={"version": "1.5.1", "values": {"node-feature-discovery": {"enabled": True}}},
            )
        },
        "error pairing/bundled-twice operators.amd-gpu-operator.values.node-feature-discovery.enabled",
        (
            "node-feature-discovery is installed twice, by gpu-operator and amd-gpu-operator; set "
            "node-feature-discovery.enabled: false"
        ),
    ),
    "node feature discovery beside the one that a chart brings by itself": (
        {"operators": but(network_operator={"version": "26.4.1", "values": {"nfd": {"enabled": True}}})},
        "error pairing/bundled-twice operators.network-operator.values.nfd.enabled",
        "node-feature-discovery is installed twice, by gpu-operator and network-operator; set nfd.enabled: false",
    ),
    "two of the SR-IOV operator, because the file says so": (
        {
            "operators": but(
                network_operator={"version": "26.4.1", "values": {"sriovNetworkOperator": {"enabled": True}}}
            )
        },
        "error pairing/bundled-twice operators.network-operator.values.sriovNetworkOperator.enabled",
        (
            "sriov-network-operator is installed twice, by sriov-network-operator and network-operator; set "
            "sriovNetworkOperator.enabled: false"
        ),
    ),
    "interfaces without addresses": (
        {"operators": but("whereabouts", "network-operator")},
        "error pairing/fabric fabric.attach",
        "attach 'sriov' needs whereabouts: it numbers the second interfaces that pods get; add it to operators",
    ),
    "queues without Kueue": (
        {"operators": but("kueue")},
        "error pairing/needs queues",
        "queues need kueue: it admits the jobs of queues to their quota; add it to operators",
    ),
    "a configuration of one's own that forgets a kind": (
        {
            "operators": but(
                kueue={
                    "version": "0.19.2",
                    "values": {"managerConfig": {"controllerManagerConfigYaml": OWN}},
                }
            )
        },
        "error kq-kind-enabled operators.kueue.values",
        "Kueue's configuration leaves out jobset.x-k8s.io/jobset, so such jobs start outside of all quotas; add it",
    ),
    "preemption that fair sharing does not know": (
        {
            "queues": {
                "production": {
                    **QUEUE,
                    "fairWeight": "2",
                    "preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
                }
            }
        },
        "error kq-preempt-invalid queues.production.preemption",
        "queue 'production' sets borrowWithinCohort, which fair sharing ignores; remove one of them",
    ),
}


@pytest.mark.parametrize(("changes", "where", "message"), WRONG.values(), ids=WRONG)
def test_what_does_not_go_together_is_reported_at_the_field_to_change(changes, where, message):
    """One finding each, with the way out, at a line of the cluster's file; that a release is not carried goes apart."""
    found = list(check(everything(**changes), source(**changes)))
    if "/un" not in where:
        found = [item for item in found if item.rule != "pairing/unknown-release"]
    assert [(f"{item.severity} {item.rule} {item.path}", item.message) for item in found] == [(where, message)]
    assert all(item.layer == "pairing" and item.location.line for item in found)


def test_every_operator_together_is_fine():
    """The cluster that has them all has nothing to report."""
    assert list(check(everything(), source())) == []


@pytest.mark.parametrize("gpu", [{"managed": False}, {"values": {"nfd": {"enabled": False}}}])
def test_a_project_that_one_chart_may_bring_is_there_once(gpu):
    """Of a chart that somebody else installs nobody knows, and one that is told to leaves it out."""
    network = {"version": "26.4.1", "values": {"nfd": {"enabled": True}}}
    said = {"operators": but(gpu_operator={"version": "26.7.0", **gpu}, network_operator=network)}
    assert [item.message for item in check(everything(**said), source(**said)) if item.rule.endswith("twice")] == []


def test_kubernetes_below_the_documented_range_is_an_error():
    """An operator that needs a newer Kubernetes does not start; one that was not tested on it may."""
    facts = release("jobset")
    assert facts is not None
    stricter = facts.releases["0.12.0"].model_copy(update={"kubernetes": Kubernetes(oldest="1.36")})
    changed = facts.model_copy(update={"releases": {"0.12.0": stricter}})
    found = list(check_version("jobset", "0.12.0", changed, everything(), source(), ("operators", "jobset", "version")))
    assert [(item.severity, item.message) for item in found] == [
        (Severity.ERROR, "jobset 0.12.0 needs Kubernetes 1.36 or newer, but the cluster runs 1.35")
    ]
