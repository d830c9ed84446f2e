"""What a pod asks for, and its quality of service, follow from its containers as they do on the API server."""

from __future__ import annotations

import pytest

from trainyard.upstream.kubelet import Pod
from trainyard.upstream.kubelet.accepted import refusal


def read(containers, init=(), **spec):
    """The pod of containers, each said by its resources; init containers may be sidecars."""
    named = [{"name": f"c{index}", "resources": container} for index, container in enumerate(containers)]
    first = [{"name": f"i{index}", **item} for index, item in enumerate(init)]
    return Pod.read({"metadata": {"name": "a"}, "spec": {"containers": named, "initContainers": first, **spec}})


WHOLE = {"limits": {"cpu": "2", "memory": "1Gi"}}

QUALITIES = {
    "limits alone": (read([WHOLE]), "Guaranteed"),
    "requests below limits": (read([{**WHOLE, "requests": {"cpu": "1"}}]), "Burstable"),
    "requests alone": (read([{"requests": {"cpu": "1", "memory": "1Gi"}}]), "Burstable"),
    "no memory": (read([{"limits": {"cpu": "1"}}]), "Burstable"),
    "nothing": (read([{}]), "BestEffort"),
    "only devices": (read([{"limits": {"nvidia.com/gpu": "1"}}]), "BestEffort"),
    "one container without limits": (read([WHOLE, {}]), "Burstable"),
    "a sidecar without limits": (read([WHOLE], [{"restartPolicy": "Always"}]), "Burstable"),
    "an init container without limits": (read([WHOLE], [{}]), "Burstable"),
    "limits of the pod": (read([{}], resources=WHOLE), "Guaranteed"),
    "empty resources of the pod": (read([WHOLE], resources={}), "BestEffort"),
    "half of the pod's limits": (read([WHOLE], resources={"limits": {"cpu": "4"}}), "Burstable"),
}


@pytest.mark.parametrize(("pod", "quality"), QUALITIES.values(), ids=QUALITIES)
def test_quality_of_service(pod, quality):
    """Guaranteed takes CPU and memory limits of every container, or of the pod, and requests that equal them."""
    assert pod.qos == quality


def test_an_init_container_counts_where_it_asks_for_more_than_all_others():
    """App containers and sidecars add up; an init container counts beside the sidecars before it, if that is more."""
    sidecar = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    small, large = ({"resources": {"requests": {"cpu": amount}}} for amount in ("2", "6"))
    app = {"requests": {"cpu": "3", "memory": "1Gi"}}
    assert str(read([app], [small, sidecar]).asked["cpu"]) == "4"
    assert str(read([app], [sidecar, large]).asked["cpu"]) == "7"
    assert str(read([app], [large, sidecar], overhead={"cpu": "250m"}).asked["cpu"]) == "6250m"


def test_what_the_pod_asks_for_itself_stands_in_place_of_its_containers():
    """Pod-level requests default to the containers' sum and then to the limits; devices still add up."""
    pod = read([{"limits": {"cpu": "1", "nvidia.com/gpu": "2"}}], resources={"limits": {"cpu": "4", "memory": "8Gi"}})
    assert {name: str(amount) for name, amount in pod.asked.items()} == {
        "cpu": "1",
        "memory": "8Gi",
        "nvidia.com/gpu": "2",
    }


REFUSED = {
    "requests above limits": ({"requests": {"cpu": "3"}, **WHOLE}, "must be less than or equal to cpu limit of 2"),
    "devices without a limit": (
        {"requests": {"nvidia.com/gpu": "1"}},
        "Limit must be set for non overcommitable resources",
    ),
    "half a device": ({"limits": {"nvidia.com/gpu": "500m"}}, "must be an integer"),
    "unequal huge pages": (
        {"requests": {"cpu": "1", "hugepages-2Mi": "2Mi"}, "limits": {"hugepages-2Mi": "4Mi"}},
        "must be equal to hugepages-2Mi limit of 4Mi",
    ),
    "huge pages alone": ({"limits": {"hugepages-2Mi": "4Mi"}}, "HugePages require cpu or memory"),
    "half a huge page": ({"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}}, "3Mi is not positive integer multiple of"),
    "less than nothing": ({"limits": {"cpu": "-1"}}, "must be greater than or equal to 0"),
}


@pytest.mark.parametrize(("resources", "said"), REFUSED.values(), ids=REFUSED)
def test_pods_that_the_server_refuses(resources, said):
    """What the API server has against a pod's resources is said in its words."""
    assert said in (refusal(read([resources])) or "")


def test_a_pod_that_the_server_takes_is_not_refused():
    """Nothing is said of a pod of limits alone, nor of one with pod-level resources that hold its containers."""
    assert refusal(read([WHOLE])) is None
    assert refusal(read([WHOLE], resources={"limits": {"cpu": "4", "memory": "2Gi"}})) is None
    assert refusal(read([WHOLE], resources={"limits": {"cpu": "1"}})) is not None
