"""Identities that providers give to service accounts: what each reads on the account, and what its pods must say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from trainyard.specs.accounts import CLIENT, GOOGLE, ROLE, account_of, accounts_on
from trainyard.specs.run import Run


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider's way; all of them hand out credentials over a token that they project themselves."""

    cloud: str
    """Whose service has what reads it, as distributions name it."""
    annotation: str
    form: re.Pattern[str]
    should: str
    """What the annotation's value is, in words."""
    source: str
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    """Without these its webhook passes a pod over."""


PROVIDERS = (
    Provider(
        "aws",
        ROLE,
        re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/\S+"),
        "the ARN of a role, such as arn:aws:iam::111122223333:role/reader",
        "aws/amazon-eks-pod-identity-webhook v0.6 README.md",
    ),
    Provider(
        "google",
        GOOGLE,
        re.compile(r"[^@\s]+@[^@\s]+\.gserviceaccount\.com"),
        "the address of an account, such as reader@project.iam.gserviceaccount.com",
        "https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity",
    ),
    Provider(
        "azure",
        CLIENT,
        re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
        "the UUID of a client",
        "Azure/azure-workload-identity v1.5 pkg/webhook/webhook.go",
        {"azure.workload.identity/use": "true"},
    ),
)


def pod_labels(run: Run) -> dict[str, str]:
    """Return the labels that pods of a run need, so that the webhook of their account's provider sees them."""
    found = accounts_on(run.cluster, run.team_name, run.team).get(account_of(run) or "")
    return labels_for(found.annotations if found else {})


def labels_for(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that pods need whose account has such annotations."""
    return {
        key: value
        for provider in PROVIDERS
        if provider.annotation in annotations
        for key, value in provider.pod_labels.items()
    }


def malformed_providers(annotations: Mapping[str, str]) -> Iterator[Provider]:
    """Yield the providers whose annotation has a value that none of them could read."""
    for provider in PROVIDERS:
        if provider.annotation in annotations and not provider.form.fullmatch(annotations[provider.annotation]):
            yield provider


def foreign_providers(annotations: Mapping[str, str], cloud: str | None) -> Iterator[Provider]:
    """Yield the providers whose annotation nothing reads on another cloud's service; None is no cloud's."""
    for provider in PROVIDERS:
        if cloud is not None and provider.annotation in annotations and provider.cloud != cloud:
            yield provider
