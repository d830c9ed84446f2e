"""What the API server has against the resources of a pod: a pod that it does not take never comes to a kubelet.

Only what a pod asks for is looked at, with the server's words; the rest is the API server's own matter (kubernetes
v1.35.4 pkg/apis/core/validation/validation.go ValidateContainerResourceRequirements, validatePodResources).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet.configuration import join_errors
from trainyard.upstream.kubelet.predicates import is_device
from trainyard.upstream.pods.demand import Resources, at_one_time, limits_of, requests_of
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.pods.resources import CPU, HUGE_PAGES, MEMORY, is_huge_page


def refusal(pod: Pod) -> str | None:
    """Return why the API server does not take a pod, None where it does."""
    found = [said for path, requests, limits in _lists(pod) for said in _problems(path, requests, limits)]
    found += _as_a_whole(pod)
    return join_errors(tuple(dict.fromkeys(found))) if found else None


def _lists(pod: Pod) -> Iterator[tuple[str, Resources, Resources]]:
    for key, containers in (("containers", pod.app_containers), ("initContainers", pod.init_containers)):
        for index, container in enumerate(containers):
            yield f"spec.{key}[{index}].resources", container.requests, container.limits
    if pod.pod_level:
        yield "spec.resources", pod.requests, pod.limits


def _problems(path: str, requests: Resources, limits: Resources) -> Iterator[str]:
    for name, amount in limits.items():
        yield from _amount_problems(f"{path}.limits[{name}]", name, amount)
    for name, amount in requests.items():
        yield from _amount_problems(f"{path}.requests[{name}]", name, amount)
        fixed = is_device(name) or is_huge_page(name)
        if name not in limits:
            if fixed:
                yield f"{path}.limits: Required value: Limit must be set for non overcommitable resources"
        elif fixed and amount != limits[name]:
            yield _invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limits[name]}")
        elif amount > limits[name]:
            yield _invalid(f"{path}.requests", amount, f"must be less than or equal to {name} limit of {limits[name]}")
    asked = {**requests, **limits}
    if any(map(is_huge_page, asked)) and CPU not in asked and MEMORY not in asked:
        yield f"{path}: Forbidden: HugePages require cpu or memory"


def _amount_problems(path: str, name: str, amount: Quantity) -> Iterator[str]:
    if amount.amount < 0:
        yield _invalid(path, amount, "must be greater than or equal to 0")
    if is_device(name) and amount.amount % 1:
        yield _invalid(path, amount, "must be an integer")
    if is_huge_page(name) and not _divisible(name, amount):
        yield _invalid(path, amount, f"{amount} is not positive integer multiple of {name}")


def _divisible(name: str, amount: Quantity) -> bool:
    try:
        page = Quantity.parse(name.removeprefix(HUGE_PAGES))
    except ValueError:
        return False
    return page.amount > 0 and not page.amount % 1 and amount.value() % page.value() == 0


def _as_a_whole(pod: Pod) -> Iterator[str]:
    """Yield the requests of containers beyond the pod's own resources (validatePodResourceConsistency)."""
    path = "spec.resources"
    for name, amount in at_one_time(pod.containers, requests_of).items():
        own = pod.requests.get(name)
        if own is not None and amount > own:
            said = f"must be greater than or equal to aggregate container requests of {amount}"
            yield _invalid(f"{path}.requests[{name}]", own, said)
    for name, amount in at_one_time(pod.containers, limits_of).items():
        own = pod.limits.get(name)
        if is_huge_page(name) and own is not None and amount > own:
            said = f"must be greater than or equal to aggregate container limits of {amount}"
            yield _invalid(f"{path}.limits[{name}]", own, said)
    for index, container in enumerate(pod.app_containers):
        for name, amount in container.limits.items():
            own = pod.limits.get(name)
            if own is not None and amount > own:
                at = f"{path}.containers[{index}][{name}].limits"
                yield _invalid(at, amount, f"must be less than or equal to pod limits of {own}")


def _invalid(path: str, amount: Quantity, said: str) -> str:
    return f'{path}: Invalid value: "{amount}": {said}'
