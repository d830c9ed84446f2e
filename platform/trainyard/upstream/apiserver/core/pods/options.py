"""What a Kubernetes release allows in pods by its default feature gates, and what an older object may keep.

Source: k8s.io/kubernetes v1.34.4, v1.35.4, v1.36.3, v1.37.2 pkg/features/kube_features.go and pkg/api/pod/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, texts
from trainyard.upstream.apiserver.meta import names


@dataclass(frozen=True, slots=True)
class Options:
    """Which rules are off: by release, because the object is a Pod, or because the old object broke them already.

    `labels` are the keys of a Pod's own labels; empty for a template.
    """

    minor: int
    is_pod: bool = False
    labels: frozenset[str] = frozenset()
    any_selector_value: bool = False
    any_node_value: bool = False
    any_spread_selector: bool = False
    any_token_path: bool = False
    any_selinux_policy: bool = False
    any_image: bool = False

    @property
    def restart_rules(self) -> bool:
        """Whether containers have restart policies of their own (gate ContainerRestartRules)."""
        return self.minor >= 35

    @property
    def restart_all(self) -> bool:
        """Whether a rule may restart the whole pod (gate RestartAllContainersOnContainerExits)."""
        return self.minor >= 36

    @property
    def image_references(self) -> bool:
        """Whether image volumes of templates name an image too, as those of Pods always do."""
        return self.minor >= 37

    @property
    def strict_addresses(self) -> bool:
        """Whether IP addresses must be canonical (gate StrictIPCIDRValidation)."""
        return self.minor >= 36


@lru_cache(maxsize=8)
def options_of(minor: int, *, is_pod: bool = False) -> Options:
    """The options of a new object."""
    return Options(minor, is_pod=is_pod)


def keep_options(options: Options, old: Object) -> Options:
    """The options of an update: what the old pod specification breaks may stay."""
    return replace(
        options,
        any_selector_value=any(_odd_selectors(old)),
        any_node_value=any(_odd_node_values(old)),
        any_spread_selector=any(
            True
            for _, constraint in each(old, "topologySpreadConstraints")
            for _ in check_label_selector(constraint.get("labelSelector"), ())
        ),
        any_token_path=any(_odd_token_paths(old)),
        any_image=any(image is not None and not image.get("reference") for image in _images(old)),
        any_selinux_policy=inner(old, "securityContext").get("seLinuxChangePolicy") is not None,
    )


def _odd_selectors(spec: Object) -> Iterator[bool]:
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = inner(spec, "affinity", kind)
        terms = [term for _, term in each(affinity, "requiredDuringSchedulingIgnoredDuringExecution")]
        weighted = each(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
        terms += [inner(term, "podAffinityTerm") for _, term in weighted]
        for term in terms:
            for key in ("labelSelector", "namespaceSelector"):
                yield any(True for _ in check_label_selector(term.get(key), ()))


def _odd_node_values(spec: Object) -> Iterator[bool]:
    required = inner(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for _, term in each(required, "nodeSelectorTerms"):
        for _, expression in each(term, "matchExpressions"):
            yield any(names.label_value(value) for _, value in texts(expression, "values"))


def _images(spec: Object) -> Iterator[Object | None]:
    return (child(volume, "image") for _, volume in each(spec, "volumes"))


def _odd_token_paths(spec: Object) -> Iterator[bool]:
    for _, volume in each(spec, "volumes"):
        for _, source in each(inner(volume, "projected"), "sources"):
            if (token := child(source, "serviceAccountToken")) is not None:
                yield paths.local(token.get("path")) is not None
