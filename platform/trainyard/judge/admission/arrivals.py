"""The pods of a job that has quota, as they come to nodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.base.labels import HOSTNAME, NETWORKS, networks
from trainyard.judge.admission import bound
from trainyard.judge.admission.exclusive import apart, exclusive
from trainyard.judge.admission.inventory import CLAIM, addresses
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.site import Site
from trainyard.render.kinds import kind_of, starts
from trainyard.render.sizing import nvlink
from trainyard.upstream.kueue.requests.jobs.appwrapper import origin
from trainyard.upstream.scheduler import Wanted

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One pod of a pod set, the host that Kueue assigned it, if it did, and the group that it is bound with."""

    pod_set: str
    wanted: Wanted
    host: str | None
    group: str = ""
    """Empty where it is bound by itself."""


def arrivals(bid: Bidder, answers: Sequence[Object], where: Site) -> Iterator[Arrival]:
    """Yield the pods of a job in the order of its pod sets; `answers` are Kueue's, of Workloads with quota.

    Raises SpecError where a patch makes a pod none.
    """
    for workload, owner, answer in zip(bid.workloads, bid.owners, answers, strict=True):
        declared = {pod_set["name"]: pod_set for pod_set in workload["spec"]["podSets"]}
        for got in answer.get("podSets", ()):
            yield from of_set(bid, workload, owner, declared[got["name"]], got, where)


def of_set(
    bid: Bidder, workload: Object, owner: Object, declared: Object, got: Object, where: Site
) -> Iterator[Arrival]:
    """Yield the pods of one pod set."""
    name, metadata = got["name"], declared["template"].get("metadata") or {}
    carried = declared["template"].get("spec") or {}
    made_by, called = origin(owner, name)
    spec = starts.complete_pod(kind_of(made_by), called, carried)
    spec = flavored(spec, sorted(set(got.get("flavors", {}).values())), where)
    namespace, labels = workload["metadata"]["namespace"], metadata.get("labels") or {}
    takes = taken_counts(bid, declared)
    alone = exclusive(made_by, called)
    around = where.around(namespace)
    together = bound.group(owner, labels, where.cluster)
    known: dict[tuple[str, str], Wanted] = {}
    for index, domain in enumerate(domains(got)):
        host, selector = (domain[HOSTNAME], {}) if HOSTNAME in domain else (None, domain)
        group = "" if alone is None else f"{workload['metadata']['name']}/{index // alone[2] if alone[2] else ''}"
        key = group, json.dumps(selector)
        if key not in known:
            own = {**spec, "nodeSelector": {**(spec.get("nodeSelector") or {}), **selector}}
            more = {} if alone is None else {alone[1]: group}
            own = own if alone is None else apart(own, alone[0], alone[1], group)
            known[key] = Wanted(own, namespace, {**labels, **more}, takes, around)
        yield Arrival(name, known[key], host, together)


def flavored(spec: Object, flavors: Sequence[str], where: Site) -> dict[str, Any]:
    """Return a specification with the node labels and tolerations of the flavors that its pods got, the gates open.

    A run may have gates of Kueue's alone (`run/tenant-place`), and it opens them where it gives quota.
    """
    there = [where.flavors[name].get("spec") or {} for name in flavors]
    labels = {key: value for item in there for key, value in (item.get("nodeLabels") or {}).items()}
    tolerations = [one for item in there for one in item.get("tolerations") or ()]
    return {
        **{name: value for name, value in spec.items() if name != "schedulingGates"},
        "nodeSelector": {**(spec.get("nodeSelector") or {}), **labels},
        "tolerations": [*(spec.get("tolerations") or ()), *tolerations],
    }


def domains(got: Object) -> Iterator[dict[str, str]]:
    """Yield the labels of the domain of each pod of a pod set, none where Kueue looks at quota alone."""
    topology = got.get("topology")
    if not topology:
        yield from ({} for _ in range(got["count"]))
        return
    for domain in topology["domains"]:
        yield from (dict(zip(topology["levels"], domain["values"], strict=True)) for _ in range(domain["count"]))


def taken_counts(bid: Bidder, declared: Object) -> dict[str, int]:
    """Return the channels and network addresses that each pod of a set takes, which no kubelet counts."""
    channels = {item["metadata"]["name"] for item in bid.beside if item["kind"] == CLAIM}
    template = declared["template"]
    claims = (template.get("spec") or {}).get("resourceClaims") or ()
    found = Counter(nvlink.RESOURCE for claim in claims if claim.get("resourceClaimTemplateName") in channels)
    noted = ((template.get("metadata") or {}).get("annotations") or {}).get(NETWORKS) or ""
    found.update(addresses(name) for _, name in networks(noted, ""))
    return dict(found)
