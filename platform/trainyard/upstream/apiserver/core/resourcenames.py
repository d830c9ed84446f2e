"""Which names of resources exist, and what holds for each: standard, extended, whole, overcommittable.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/helper/helpers.go and pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from functools import lru_cache

from trainyard.upstream.apiserver.core.amounts import NANO, nanos
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.pods.resources import BASIC, HUGE_PAGES, PODS, is_huge_page, is_native, is_pod_level

_CONTAINER = frozenset(BASIC)
_COUNTED = frozenset(
    {
        PODS,
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_QUOTA = (
    _CONTAINER
    | _COUNTED
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _CONTAINER}
    | {"requests.storage"}
)
_REQUESTS = "requests."


def is_extended(name: str) -> bool:
    """Whether the resource is a device plugin's: a name with a domain that also works as `requests.<name>`."""
    return not is_native(name) and not name.startswith(_REQUESTS) and not names.label_key(_REQUESTS + name)


@lru_cache(maxsize=1024)
def is_whole(name: str) -> bool:
    """Whether only whole amounts of the resource exist."""
    return name in _COUNTED or is_extended(name)


def may_overcommit(name: str) -> bool:
    """Whether a request may be smaller than its limit."""
    return is_native(name) and not is_huge_page(name)


def is_standard_quota(name: str) -> bool:
    """Whether a quota may name the resource without a domain."""
    return name in _QUOTA or name.startswith((HUGE_PAGES, _REQUESTS + HUGE_PAGES))


@lru_cache(maxsize=1024)
def resource_name(name: str) -> str | None:
    """The rule for any resource name: qualified, and standard where it has no domain."""
    if detail := names.label_key(name):
        return detail
    if "/" not in name and not is_standard_quota(name) and name != "storage":
        return "must be a standard resource type or fully qualified"
    return None


@lru_cache(maxsize=1024)
def container_resource_name(name: str) -> str | None:
    """The rule for resources of a container."""
    detail = resource_name(name)
    if "/" not in name:
        return detail or (
            None if name in _CONTAINER or is_huge_page(name) else "must be a standard resource for containers"
        )
    if not is_native(name) and not is_extended(name):
        return detail or "does not follow the standard for extended resource names"
    return detail


@lru_cache(maxsize=256)
def pod_resource_name(name: str) -> str | None:
    """The rule for resources of a whole pod."""
    if detail := resource_name(name):
        return detail
    return None if is_pod_level(name) else "must be cpu, memory or hugepages-<size>"


@lru_cache(maxsize=256)
def quota_resource_name(name: str) -> str | None:
    """The rule for resources of a quota."""
    if detail := resource_name(name):
        return detail
    return None if "/" in name or is_standard_quota(name) else "must be a standard resource for quota"


def divides_page(name: str, amount: int) -> bool:
    """Whether so many nano units of huge pages are a whole number of pages."""
    page = nanos(name.removeprefix(HUGE_PAGES))
    if not page or page < 0 or page % NANO:
        return False
    return -(-amount // NANO) % (page // NANO) == 0
