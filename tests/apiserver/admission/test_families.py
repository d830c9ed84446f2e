"""Services that ask for IP families: what depends on the cluster's ranges is unknown, neither refused nor right."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from trainyard.base.documents import Document
from trainyard.base.manifests import Manifest
from trainyard.upstream.apiserver import Judge, aware, catalog
from trainyard.upstream.apiserver.judge import Judgement

CIDR = {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": "kubernetes"}}
IPV4 = {**CIDR, "spec": {"cidrs": ["10.96.0.0/16"]}}
DUAL = {**CIDR, "spec": {"cidrs": ["10.96.0.0/16", "fd00::/108"]}}

CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "nothing said": ({}, False),
    "both if there are": ({"ipFamilyPolicy": "PreferDualStack"}, False),
    "IPv4": ({"ipFamilies": ["IPv4"]}, False),
    "no address of its own, and no pods": ({"clusterIP": "None", "ipFamilyPolicy": "RequireDualStack"}, False),
    "the same with IPv6": ({"clusterIP": "None", "ipFamilies": ["IPv6"]}, False),
    "IPv6": ({"ipFamilies": ["IPv6"]}, True),
    "both, one after the other": ({"ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "PreferDualStack"}, True),
    "both in any case": ({"ipFamilyPolicy": "RequireDualStack"}, True),
    "an address of IPv6": ({"clusterIP": "fd00::1"}, True),
    "no address of its own, for pods": ({"clusterIP": "None", "selector": {"a": "b"}, "ipFamilies": ["IPv6"]}, True),
}
"""What a kube-apiserver 1.35.4 with IPv4 alone refuses for its families, and what it takes."""


def judged(spec: dict[str, Any], *around: dict[str, Any]) -> Judgement:
    """Return the verdict on a Service, with other objects at hand."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={})
    head = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    value = {**head, "spec": {"ports": [{"port": 80}], **spec}}
    return aware(Judge(known), around).judge(Manifest(Document("a.yaml", 0, value), value))


@pytest.mark.parametrize("case", CASES)
def test_families_depend_on_the_cluster(case: str) -> None:
    """Unknown without the ranges, with a warning that fails nobody; refused or right with them."""
    spec, needs = CASES[case]
    unknown = judged(spec)
    assert unknown.verdict == ("unknown" if needs else "valid"), unknown.findings
    assert [(finding.rule, finding.is_error) for finding in unknown.findings] == [
        ("core/service-family-unknown", False)
    ] * needs
    assert judged(spec, IPV4).verdict == ("invalid" if needs else "valid")
    assert judged(spec, DUAL).verdict == "valid"
