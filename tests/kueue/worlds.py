"""Whole clusters by chance, small and crowded: trees of queues, flavors, topologies, and Workloads that contend."""

from __future__ import annotations

import json
import random
from typing import Any

Object = dict[str, Any]

KUEUE = "kueue.x-k8s.io/v1beta2"
POLICIES = ("Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any")
STRATEGIES = (
    ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
    ["LessThanOrEqualToFinalShare"],
    ["LessThanInitialShare"],
)
TOGGLED = (
    *("FlavorFungibility", "FlavorFungibilityPreserveScanProgress", "PrioritySortingWithinCohort"),
    *("FairSharingPreemptWithinNominal", "FairSharingPrioritizeNonBorrowing", "SchedulingEquivalenceHashing"),
    *("PartialAdmission", "TASRecomputeAssignmentWithinSchedulingCycle", "TASHandleOverlappingFlavors"),
    *("UnadmittedWorkloadsObservability", "PrioritizePreemptorWorkloads"),
    *("RecomputeAssignmentUponPreemptionTargetsOverlap", "TASProfileMixed"),
)
"""Gates that change what the scheduler does; each is turned over now and then."""

TAINT = {"key": "spot", "value": "yes", "effect": "NoSchedule"}


class Draw:
    """One case; the same seed draws the same one."""

    def __init__(self, seed: int) -> None:
        self.seed, self.chance = seed, random.Random(f"queues {seed}")
        self.objects: list[Object] = []
        self.admitted: list[Object] = []
        self.hosts: dict[str, list[str]] = {}
        self.topologies = self.maybe(0.3)
        self.fair = self.maybe(0.35)

    def maybe(self, share: float) -> bool:
        """Say yes in a share of all cases."""
        return self.chance.random() < share

    def add(self, kind: str, name: str, spec: Object, **metadata: Any) -> Object:
        """Add an object of Kueue."""
        made = {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        self.objects.append(made)
        return made

    def case(self) -> Object:
        """Return the case."""
        self.resources = self.chance.choice([["cpu"], ["cpu"], ["cpu", "memory"], ["cpu", "gpu.example.com/g"]])
        self.two_groups = len(self.resources) == 2 and self.maybe(0.5)
        self.flavors = [f"flavor-{letter}" for letter in "abc"[: self.chance.choice([1, 1, 2, 2, 3])]]
        for name in self.flavors:
            self.flavor(name)
        self.cohorts = self.tree()
        self.queues = [self.queue(f"q{number}") for number in range(self.chance.choice([1, 2, 2, 3, 3, 4, 5]))]
        for number in range(self.chance.randint(3, 12)):
            self.workload(f"w{number:02}")
        mode = self.chance.choice(["settle"] * 5 + ["cycle"] * 2 + ["nominate"])
        case = {"name": f"drawn-{self.seed}", "mode": mode, "config": self.config(), "objects": self.objects}
        return {**case, "admitted": self.admitted} if self.admitted else case

    def config(self) -> Object:
        """Return Kueue's configuration."""
        config: Object = {}
        gates = {name: not on(name) for name in TOGGLED if self.maybe(0.04)}
        if gates:
            config["featureGates"] = gates
        if self.fair:
            config["fairSharing"] = {"preemptionStrategies": self.chance.choice(STRATEGIES)}
        if self.maybe(0.05):
            config["resources"] = {"quotaCheckStrategy": "IgnoreUndeclared"}
        return config

    def flavor(self, name: str) -> None:
        """Add a flavor, sometimes with a label and a taint, and with nodes where it has a topology."""
        spec: Object = {}
        labels = {"pool": name}
        if self.maybe(0.5) or self.topologies:
            spec["nodeLabels"] = labels
        if self.maybe(0.12):
            spec["nodeTaints"] = [TAINT]
        if self.maybe(0.05):
            spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        if self.topologies and self.maybe(0.8):
            spec["topologyName"] = "default"
            self.nodes(name, labels)
        self.add("ResourceFlavor", name, spec)

    def nodes(self, flavor: str, labels: Object) -> None:
        """Add a few nodes in racks, and the topology that they stand in."""
        if not any(item["kind"] == "Topology" for item in self.objects):
            levels = ["rack", "kubernetes.io/hostname"]
            self.add("Topology", "default", {"levels": [{"nodeLabel": level} for level in levels]})
        self.hosts[flavor] = []
        for number in range(self.chance.randint(1, 4)):
            self.hosts[flavor].append(f"{flavor}-{number}")
            amounts = {"cpu": str(self.chance.choice([2, 3, 4])), "memory": "8Gi", "gpu.example.com/g": "4"}
            metadata = {"name": f"{flavor}-{number}", "labels": {**labels, "rack": f"r{number % 2}"}}
            status = {"allocatable": amounts}
            self.objects.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status})

    def tree(self) -> list[str]:
        """Add cohorts, and return their names; an empty name is none."""
        shape = self.chance.choice(["none", "flat", "flat", "flat", "deep", "deep", "deeper"])
        if shape == "none":
            return [""]
        if shape == "flat":
            if self.maybe(0.4):
                self.cohort("all", "")
            return ["all"] * 5 + [""]
        parents = {"all": "", "left": "all", "right": "all"}
        if shape == "deeper":
            parents |= {"low": "left", "lower": "low"}
        for name, parent in parents.items():
            self.cohort(name, parent)
        return list(parents)

    def cohort(self, name: str, parent: str) -> None:
        """Add a cohort, sometimes with quota of its own."""
        spec: Object = {"parentName": parent} if parent else {}
        if self.maybe(0.35):
            spec["resourceGroups"] = self.groups(bool(parent), [0, 0, 1, 2, 4], cohort=True)
        if self.maybe(0.3):
            spec["fairSharing"] = {"weight": self.chance.choice(["0", "1", "2", "500m"])}
        self.add("Cohort", name, spec)

    def groups(self, parent: bool, nominal: list[int], cohort: bool = False) -> list[Object]:
        """Return resource groups over all flavors, or over some of them."""
        sets = [[resource] for resource in self.resources] if self.two_groups else [self.resources]
        found = []
        for number, covered in enumerate(sets):
            mine = self.flavors[number::2] if self.two_groups and len(self.flavors) > 1 else self.flavors
            if self.two_groups and len(self.flavors) == 1 and number:
                continue
            mine = [item for item in mine if self.maybe(0.85)] or mine[:1]
            covered = [*covered, "pods"] if not cohort and number == 0 and self.pods else covered
            flavors = []
            for name in mine:
                quotas = [self.quota(resource, parent, nominal, cohort) for resource in covered]
                flavors.append({"name": name, "resources": quotas})
            found.append({"coveredResources": covered, "flavors": flavors})
        return found

    def quota(self, resource: str, parent: bool, nominal: list[int], cohort: bool) -> Object:
        """Return a quota, with limits where there is somebody to borrow from."""
        amount = self.chance.choice(nominal)
        scale = "Gi" if resource == "memory" else ""
        quota: Object = {"name": resource, "nominalQuota": f"{amount}{scale}"}
        if parent and self.maybe(0.25):
            quota["borrowingLimit"] = f"{self.chance.choice([0, 1, 2, 4])}{scale}"
        if parent and self.maybe(0.25):
            quota["lendingLimit"] = f"{self.chance.randint(0, 5 if cohort else amount)}{scale}"
        return quota

    def queue(self, name: str) -> str:
        """Add a queue with one or two ways into it."""
        cohort = self.chance.choice(self.cohorts)
        self.pods = self.maybe(0.08)
        spec: Object = {"namespaceSelector": {}, "resourceGroups": self.groups(bool(cohort), [0, 1, 2, 3, 4, 4, 6])}
        if cohort:
            spec["cohortName"] = cohort
        if self.maybe(0.2):
            spec["queueingStrategy"] = "StrictFIFO"
        if self.maybe(0.75):
            spec["preemption"] = self.preemption()
        if self.maybe(0.35):
            spec["flavorFungibility"] = self.fungibility()
        if self.maybe(0.3):
            spec["fairSharing"] = {"weight": self.chance.choice(["0", "1", "2", "3", "500m"])}
        if self.maybe(0.05):
            spec["admissionChecksStrategy"] = {"admissionChecks": [self.check()]}
        if self.maybe(0.03):
            spec["namespaceSelector"] = {"matchLabels": {"team": "other"}}
        if self.maybe(0.02):
            spec["stopPolicy"] = self.chance.choice(["Hold", "HoldAndDrain"])
        self.add("ClusterQueue", name, spec)
        for way in ("", "-more")[: 1 + self.maybe(0.2)]:
            self.add("LocalQueue", name + way, {"clusterQueue": name})
        return name

    def check(self) -> Object:
        """Return a check that waits, for all flavors or for one; sometimes a ProvisioningRequest's."""
        name = "provision" if self.maybe(0.4) else "check"
        if not any(item["kind"] == "AdmissionCheck" and item["metadata"]["name"] == name for item in self.objects):
            controller = "kueue.x-k8s.io/provisioning-request" if name == "provision" else "example.com/check"
            self.add("AdmissionCheck", name, {"controllerName": controller})
        return {"name": name}

    def preemption(self) -> Object:
        """Return who may be preempted."""
        rule: Object = {
            "withinClusterQueue": self.chance.choice(POLICIES[:3]),
            "reclaimWithinCohort": self.chance.choice(["Never", "LowerPriority", "Any", "Any"]),
        }
        if rule["reclaimWithinCohort"] != "Never" and self.maybe(0.4):
            borrow: Object = {"policy": "LowerPriority"}
            if self.maybe(0.5):
                borrow["maxPriorityThreshold"] = self.chance.randint(0, 2)
            rule["borrowWithinCohort"] = borrow
        return rule

    def fungibility(self) -> Object:
        """Return when the next flavor is tried."""
        rule: Object = {
            "whenCanBorrow": self.chance.choice(["MayStopSearch", "TryNextFlavor"]),
            "whenCanPreempt": self.chance.choice(["MayStopSearch", "TryNextFlavor"]),
        }
        if set(rule.values()) == {"TryNextFlavor"} and self.maybe(0.6):
            rule["preference"] = self.chance.choice(["BorrowingOverPreemption", "PreemptionOverBorrowing"])
        return rule

    def workload(self, name: str) -> None:
        """Add a Workload that waits, or that holds quota from the start."""
        sets = [
            self.pod_set("main" if not number else f"more-{number}")
            for number in range(self.chance.choice([1] * 5 + [2]))
        ]
        if len(sets) == 2 and self.maybe(0.3):
            for set_ in sets:
                set_["topologyRequest"] = {**set_.get("topologyRequest", {}), "podSetGroupName": "together"}
        if self.maybe(0.12) and sets[0]["count"] > 1:
            sets[0]["minCount"] = self.chance.randint(1, sets[0]["count"])
        lanes = [item["metadata"]["name"] for item in self.objects if item["kind"] == "LocalQueue"]
        spec = {"queueName": self.chance.choice(lanes), "podSets": sets}
        held = self.maybe(0.45)
        spec["priority"] = self.chance.choice([0, 0, 0, 1, 2] if held else [0, 1, 1, 2, 3])
        metadata: Object = {}
        if self.maybe(0.3):
            metadata["creationTimestamp"] = f"2025-12-31T23:0{self.chance.randint(0, 9)}:00Z"
        self.add("Workload", name, spec, **metadata)
        if held:
            self.admit(name, sets, spec["queueName"].removesuffix("-more"))

    def admit(self, name: str, sets: list[Object], queue: str) -> None:
        """Have a Workload hold quota from the start, on nodes of the flavor where it has a topology."""
        flavor = self.chance.choice(self.flavors)
        short: Object = {"workload": name, "flavor": flavor}
        if self.maybe(0.6):
            short["at"] = f"2025-12-31T23:3{self.chance.randint(0, 9)}:00Z"
        named = json.dumps(next(item["spec"] for item in self.objects if item["metadata"]["name"] == queue))
        if flavor in self.hosts and f'"{flavor}"' in named:
            places = {set_["name"]: self.domains(flavor, set_["count"]) for set_ in sets}
            short["podSets"] = {one: {"flavor": flavor, "domains": domains} for one, domains in places.items()}
        elif self.topologies and any(set_.get("topologyRequest") for set_ in sets):
            return
        self.admitted.append(short)

    def domains(self, flavor: str, count: int) -> list[Object]:
        """Return nodes for so many pods."""
        hosts = self.chance.choices(self.hosts[flavor], k=count)
        return [{"values": [host], "count": hosts.count(host)} for host in sorted(set(hosts))]

    def pod_set(self, name: str) -> Object:
        """Return pods that ask for a little of everything."""
        requests = {}
        for resource in self.resources:
            if resource == "cpu" or self.maybe(0.7):
                amount = self.chance.choice([0, 1, 1, 1, 2, 2, 3] if self.maybe(0.9) else [5, 8])
                requests[resource] = f"{amount}{'Gi' if resource == 'memory' else ''}"
        pods: Object = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
        if self.maybe(0.1):
            pods["nodeSelector"] = {"pool": self.chance.choice(self.flavors)}
        if self.maybe(0.15):
            pods["tolerations"] = [{"key": "spot", "operator": "Exists"}]
        found: Object = {"name": name, "count": self.chance.choice([1, 1, 1, 2, 2, 3]), "template": {"spec": pods}}
        if self.topologies and self.maybe(0.6):
            level = self.chance.choice(["rack", "kubernetes.io/hostname"])
            found["topologyRequest"] = self.chance.choice(
                [{"required": level}, {"preferred": level}, {"unconstrained": True}]
            )
        return found


def on(gate: str) -> bool:
    """Say whether a gate is on by default."""
    off = (
        *("UnadmittedWorkloadsObservability", "PrioritizePreemptorWorkloads"),
        "RecomputeAssignmentUponPreemptionTargetsOverlap",
    )
    return gate not in off


def case(seed: int) -> Object:
    """Return the case of a seed."""
    return Draw(seed).case()


def provisioned(seed: int) -> Object | None:
    """Return a case with topologies whose machines are provisioned, or not yet; None for seeds without topologies."""
    chance, one = random.Random(f"provisioned {seed}"), case(40_000 + seed)
    if not any(item["kind"] == "Topology" for item in one["objects"]):
        return None
    kept = [item for item in one["objects"] if item["kind"] != "AdmissionCheck"]
    check = {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": "provision"}}
    check["spec"] = {"controllerName": "kueue.x-k8s.io/provisioning-request"}
    for item in kept:
        if item["kind"] == "ClusterQueue":
            item["spec"].pop("admissionChecksStrategy", None)
            if chance.random() < 0.7:
                item["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": "provision"}]}
        if item["kind"] == "Workload" and chance.random() < 0.7:
            state = chance.choice(["Ready", "Ready", "Ready", "Pending", "Retry", "Rejected"])
            said = {"name": "provision", "state": state, "message": "", "lastTransitionTime": "2025-12-31T23:00:00Z"}
            item["status"] = {"admissionChecks": [said]}
    return {**one, "mode": chance.choice(["settle", "settle", "cycle"]), "objects": [check, *kept]}
