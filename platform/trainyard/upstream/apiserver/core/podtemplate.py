"""PodTemplates: the template of a pod as an object of its own.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePodTemplate.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.pods.defaults import default_template
from trainyard.upstream.apiserver.core.pods.options import keep_options, options_of
from trainyard.upstream.apiserver.core.pods.template import check_template
from trainyard.upstream.apiserver.core.shapes import Object, inner
from trainyard.upstream.apiserver.problems import Problem


def default(value: Object, minor: int) -> None:
    """Default a PodTemplate."""
    default_template(value, minor)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a PodTemplate; an update may change everything."""
    options = options_of(minor(kubernetes))
    if old is not None:
        options = keep_options(options, inner(old, "template", "spec"))
    yield from check_template(inner(value, "template"), ("template",), options)
