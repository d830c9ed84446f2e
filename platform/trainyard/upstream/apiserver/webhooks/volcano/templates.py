"""What Volcano's pod validation refuses beyond a server's: it runs Kubernetes' own with no option set.

Source: volcano v1.14.1 pkg/webhooks/admission/jobs/validate/admit_job.go; k8s.io/kubernetes v1.34.4
pkg/apis/core/validation/validation.go PodValidationOptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

RULE = Rule(
    "webhook/volcano-template",
    "k8s.io/kubernetes v1.34.4 pkg/apis/core/validation/validation.go",
    title="The pod templates of a Volcano Job are valid pods.",
    fix="write the value that the message gives, as for any pod",
    may_warn=True,
)

_PATH: Path = ("template", "spec")
_KINDS = ("initContainers", "containers")
_variable = re.compile("[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch


def check_strict(pod: Object) -> Iterator[Problem]:
    """Yield the fields that only newer servers allow: odd variables and search domains, sleep, restart policies."""
    for kind in _KINDS:
        for index, container in each(pod, kind):
            yield from _check_container(container, kind, (*_PATH, kind, index))
    for index, domain in texts(inner(pod, "dnsConfig"), "searches"):
        if detail := names.dns_subdomain(domain.removesuffix(".")):
            yield RULE.invalid((*_PATH, "dnsConfig", "searches", index), domain, detail)


def _check_container(container: Object, kind: str, path: Path) -> Iterator[Problem]:
    for index, variable in each(container, "env"):
        name = text(variable, "name")
        if name and (not _variable(name) or name.startswith("..") or name == "."):
            detail = "must consist of letters, digits, '_', '-' or '.', and not start with a digit"
            yield RULE.invalid((*path, "env", index, "name"), name, detail)
    for index, source in each(container, "envFrom"):
        prefix = text(source, "prefix")
        if prefix and not _variable(prefix):
            detail = "must consist of letters, digits, '_', '-' or '.', and not start with a digit"
            yield RULE.invalid((*path, "envFrom", index, "prefix"), prefix, detail)
    for when in ("postStart", "preStop"):
        sleep = child(inner(container, "lifecycle", when), "sleep")
        if sleep is not None and not number(sleep, "seconds"):
            yield RULE.invalid((*path, "lifecycle", when, "sleep"), 0, "must be greater than 0")
    if kind == "containers" and container.get("restartPolicy") is not None:
        yield RULE.forbidden((*path, "restartPolicy"), "may not be set for containers that are not init containers")
