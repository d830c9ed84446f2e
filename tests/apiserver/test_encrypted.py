"""What SOPS has encrypted in place is judged as far as it is readable, and Sealed Secrets are a known kind."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from trainyard.base.documents import dump, load
from trainyard.base.manifests import Manifest
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks import validate
from trainyard.upstream.apiserver import catalog, encrypted
from trainyard.upstream.apiserver.judge import Judge

HIDDEN = "ENC[AES256_GCM,data:aHVi,iv:MDAwMDAwMDAwMDAwMDAwMA==,tag:MDAwMDAwMDAwMDAwMDAwMA==,type:str]"
SOPS: dict[str, Any] = {"sops": {"mac": HIDDEN, "version": "3.11.0", "lastmodified": "2026-01-01T00:00:00Z"}}
SECRET: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hub", "namespace": "nlp"}}
SEALED: dict[str, Any] = {
    "apiVersion": "bitnami.com/v1alpha1",
    "kind": "SealedSecret",
    "metadata": {"name": "hub", "namespace": "nlp"},
    "spec": {"encryptedData": {"token": "AgBy3i4OJSWK"}, "template": {"metadata": {"name": "hub"}}},
}
WHOLE = {"apiVersion": HIDDEN, "kind": HIDDEN, "metadata": {"name": HIDDEN}, **SOPS}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "a", "namespace": "nlp"},
    "spec": {
        "parallelism": HIDDEN,
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "registry.example.com/a:1"}]}
        },
    },
    **SOPS,
}

CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "texts of a Secret": ({**SECRET, "stringData": {"token": HIDDEN}, **SOPS}, []),
    "data, which else is base64": ({**SECRET, "data": {"token": HIDDEN}, **SOPS}, []),
    "a number of another kind": (JOB, []),
    "a Sealed Secret": (SEALED, []),
    "a field that is wrong beside encrypted ones": (
        {**SECRET, "stringData": {"token": HIDDEN}, "typo": 1, **SOPS},
        ["schema/unknown-field typo"],
    ),
    "a kind that nobody can read": (WHOLE, ["schema/encrypted kind"]),
    "a field of that name that encrypts nothing": ({**SECRET, "sops": "no"}, ["schema/unknown-field sops"]),
    "a Sealed Secret of an unknown field": (
        {**SEALED, "spec": {**SEALED["spec"], "secret": "a"}},
        ["schema/unknown-field spec.secret"],
    ),
}


@pytest.mark.parametrize(("value", "expected"), CASES.values(), ids=CASES)
def test_what_is_readable_is_judged(value, expected):
    """Files of anybody are decrypted before they are applied; nothing is said of what nobody can read."""
    result = validate.strangers([("a.yaml", dump(value).encode())], schemas_dir(ROOT))
    assert [f"{finding.rule} {finding.path}" for finding in result.findings] == expected


def test_argo_cd_alone_decrypts_nothing():
    """Objects of a tree reach the server as they are, and it does not know the field."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35")
    value = {**SECRET, "stringData": {"token": HIDDEN}, **SOPS}
    documents, _ = load(dump(value).encode(), file="a.yaml")
    manifest = Manifest(documents[0], value)
    assert encrypted.is_encrypted(manifest)
    assert [finding.rule for finding in Judge(known).judge(manifest).findings] == ["schema/unknown-field"]
