"""Rules on the way from one release of an operator to another."""

from __future__ import annotations

from trainyard.base.findings import Severity
from trainyard.base.rules import Rule

DOCS = "docs/updating.md"

ABSENT = Rule(
    id="pairing/not-there",
    title="An operator that is upgraded is one of the cluster's.",
    why="there is no release to replace",
    fix="correct the name, or add the operator to the cluster's file",
    source=DOCS,
    layer="pairing",
)
ORDER = Rule(
    id="pairing/upgrade-order",
    title="Operators are upgraded in an order in which every pair works.",
    why="one of them would use what the other does not serve",
    fix="run the commands that the message names, and merge each by itself",
    source=DOCS,
    layer="pairing",
)
DIGESTS = Rule(
    id="pairing/old-digests",
    title="Digests of images are of the release that is installed.",
    why="the new operator would run the old images",
    fix="remove the digests, upgrade, and add those of the new images",
    source=DOCS,
    layer="pairing",
)
STORED = Rule(
    id="pairing/stored-version",
    title="A release serves the API version in which objects of its kinds are stored.",
    why="the API server refuses a definition without that version, and the objects could not be read",
    fix="write the objects again in a version that both releases serve, or stay with the newer release",
    source="kubernetes/kubernetes v1.35.4 staging/src/k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation",
    layer="pairing",
)
DOWNGRADE = Rule(
    id="pairing/downgrade",
    title="A release is not replaced by an older one.",
    why="objects that the newer release wrote may have fields and states that the older one does not know",
    fix="read upstream's notes on both releases; stay where you can",
    source=DOCS,
    layer="pairing",
    severity=Severity.WARNING,
)
