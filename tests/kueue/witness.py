"""What an admission must be, seen from outside: the pool's flavor, everything counted, every pod in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from kueue.question import Object, Question
from trainyard.base.quantities import Quantity
from trainyard.render.sizing import nvlink


def problems(question: Question, answer: Object) -> Iterator[str]:
    """Yield what is wrong with the answer to a run that had the cluster to itself."""
    if answer["outcome"] != "admitted":
        yield f"is {answer['outcome']}: {answer.get('message')}"
        return
    flavors, topologies = question.of("ResourceFlavor"), question.of("Topology")
    held: dict[str, Counter[str]] = {}
    for asked, given in zip(answer["podSets"], answer["assigned"], strict=True):
        what = asked["name"]
        (flavor,) = {flavors[name]["metadata"]["name"] for name in given["flavors"].values()}
        wanted = asked_labels(asked)
        if not any(labels.items() <= flavors[flavor]["spec"]["nodeLabels"].items() for labels in wanted):
            yield f"{what} gets flavor {flavor} for nodes with {wanted}"
        yield from (f"{what} {item}" for item in uncounted(asked, given))
        name = flavors[flavor]["spec"].get("topologyName")
        if name is None:
            continue
        labels = [level["nodeLabel"] for level in topologies[name]["spec"]["levels"]]
        hosts: Counter[str] = Counter()
        for domain in given["topology"]["domains"]:
            hosts[domain["values"][-1]] += domain["count"]
        if hosts.total() != asked["count"]:
            yield f"{what} has {asked['count']} pods, of which {hosts.total()} have a place"
        yield from (f"{what} {item}" for item in scattered(question, labels, asked, hosts))
        for host, count in hosts.items():
            for resource, text in asked["pod"].items():
                held.setdefault(host, Counter())[resource] += count * amount(text)
    yield from overfull(question, held)


def asked_labels(asked: Object) -> list[Object]:
    """Return the labels of nodes that pods of a set may run on, of each pool."""
    if "nodeSelector" in asked:
        return [asked["nodeSelector"]]
    (term,) = asked["requiredNodeAffinity"]["nodeSelectorTerms"]
    (one,) = term["matchExpressions"]
    return [{one["key"]: value} for value in one["values"]]


def uncounted(asked: Object, given: Object) -> Iterator[str]:
    """Yield resources whose use is not what its pods ask for; channels of NVLink are counted a claim, one a pod."""
    claims = {nvlink.RESOURCE: str(asked["count"])} if nvlink.RESOURCE in given["flavors"] else {}
    expected = {name: amount(text) for name, text in {**asked["total"], **claims}.items()}
    found = {name: amount(text) for name, text in given["usage"].items()}
    if found != expected or set(given["flavors"]) != set(expected):
        yield f"counts as {given['usage']}, but asks for {asked['total']}"


def scattered(question: Question, labels: list[str], asked: Object, hosts: Counter[str]) -> Iterator[str]:
    """Yield domains that pods have left in which they must be, all together or slice by slice."""
    request = asked.get("topologyRequest", {})
    nodes = question.of("Node")

    def domains(label: str) -> Counter[tuple[str, ...]]:
        levels = labels[: labels.index(label) + 1]
        found: Counter[tuple[str, ...]] = Counter()
        for host, count in hosts.items():
            found[tuple(nodes[host]["metadata"]["labels"][level] for level in levels)] += count
        return found

    required, sliced = request.get("required"), request.get("podSetSliceRequiredTopology")
    if required and len(domains(required)) != 1:
        yield f"must be within one {required}, and is in {sorted(domains(required))}"
    if sliced and any(count % request["podSetSliceSize"] for count in domains(sliced).values()):
        yield f"must be in slices of {request['podSetSliceSize']} within one {sliced}, and is in {domains(sliced)}"


def overfull(question: Question, held: dict[str, Counter[str]]) -> Iterator[str]:
    """Yield resources of which a node has less than its pods and its daemons ask for."""
    nodes, pods = question.of("Node"), question.of("Pod")
    for host, wanted in held.items():
        (daemons,) = pods[f"daemons-{host}"]["spec"]["containers"]
        for resource, text in daemons["resources"]["requests"].items():
            wanted[resource] += amount(text)
        offered = nodes[host]["status"]["allocatable"]
        for resource, wants in wanted.items():
            if wants > amount(offered.get(resource, "0")):
                yield f"{host} has {offered.get(resource, 'no')} {resource}, and must hold {wants}"


def amount(text: str) -> Decimal:
    """Return a quantity as a number."""
    return Quantity.parse(text).amount
