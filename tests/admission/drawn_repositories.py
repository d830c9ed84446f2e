"""Whole small repositories by chance: clusters that have too little of something, and jobs that ask for much of it."""

from __future__ import annotations

import random

from make import CLUSTER, CPU_NODE, JOB, fields

ALIGNED = ("none", "best-effort", "restricted", "single-numa-node")
PREEMPTION = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}


class Draw:
    """One repository; the same seed draws the same one."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(f"repository {seed}")
        self.cluster = self.drawn_cluster()
        self.modest = self.maybe(0.5)
        count = self.chance.randint(4, 9) if self.modest else self.chance.randint(2, 5)
        self.jobs = {f"nlp/j{index}": self.drawn_job() for index in range(count)}

    def maybe(self, share: float) -> bool:
        """Whether something is there that is so in this share of all repositories."""
        return self.chance.random() < share

    def drawn_cluster(self):
        """A cluster of one or two racks or blocks, whose queues lend and borrow."""
        pick = self.chance.choice
        racks, nodes = pick([1, 2, 3]), pick([3, 4, 6])
        gpu = {"shape": pick(["dgx-h100", "dgx-a100"]), "nodes": nodes, "racks": racks}
        if self.maybe(0.5):
            policy = pick(ALIGNED)
            gpu["kubelet"] = {
                "topologyManagerPolicy": policy,
                "topologyManagerScope": "pod",
                "cpuManagerPolicy": "static",
            }
        if self.maybe(0.2):
            gpu["daemons"] = [{"name": "client", "cpus": 24, "memory": "300Gi"}]
        pools = {"gpu": gpu, "cpu": {"shape": CPU_NODE, "nodes": 3}}
        queues = {"research": self.drawn_queue(nodes)}
        if self.maybe(0.6):
            queues["other"] = self.drawn_queue(nodes)
        changes = {"pools": pools, "queues": queues, "recoveryMinutes": 0}
        changes["topology"] = pick([None, [{"rack": "example.com/rack"}]])
        if changes["topology"] and self.maybe(0.5):
            gpu["blocks"] = 1
            changes["topology"] = [{"block": "example.com/block"}, *changes["topology"]]
        changes["waive"] = {"kq-overcommit": "a test"}
        return fields(CLUSTER, changes)

    def drawn_queue(self, nodes):
        """A queue with part of the pools, in a cohort or none."""
        pick = self.chance.choice
        quota = {"gpu": {"gpus": pick([8, 12, 16, 8 * nodes])}, "cpu": {"nodes": pick([1, 2])}}
        queue = {"teams": ["nlp"], "nominalQuota": quota}
        if self.maybe(0.6):
            queue["cohort"] = "all"
            if self.maybe(0.4):
                queue["borrowingLimit"] = {"gpu": {"gpus": pick([0, 8])}}
            if self.maybe(0.3):
                queue["lendingLimit"] = {"gpu": {"gpus": pick([0, 8])}}
        if self.maybe(0.5):
            queue["preemption"] = PREEMPTION
        if self.maybe(0.2):
            queue["queueingStrategy"] = "StrictFIFO"
        return queue

    def drawn_job(self):
        """A job of one of the forms."""
        pick = self.chance.choice
        changes = {"priority": pick(["low", "normal", "high"]), "queue": pick(sorted(self.cluster["queues"]))}
        form = pick(["gang", "gang", "gang", "elastic", "array", "roles", "cpu"])
        if self.modest and form in {"gang", "roles"}:
            changes |= {"nodes": pick([1, 1, 2]), "gpusPerNode": pick([1, 2, 4])}
        elif form == "array":
            changes |= {"launcher": "python", "nodes": None, "gpusPerNode": pick([1, 2, 4])}
            changes["array"] = {"of": 60, "parallel": pick([2, 6, 20, 40])}
        elif form == "cpu":
            changes |= {"launcher": "python", "pool": "cpu", "nodes": 1, "gpusPerNode": None}
            changes |= {"cpusPerNode": pick([2, 8, 14, 15]), "memoryPerNode": pick(["4Gi", "50Gi", "59Gi"])}
        else:
            changes |= {"nodes": pick([1, 1, 2, 3, 4, 5]), "gpusPerNode": pick([2, 4, 6, 8, 8])}
            if self.maybe(0.3):
                changes["cpusPerNode"] = pick([8, 100, 190, 220, 240])
            if self.maybe(0.2):
                changes["memoryPerNode"] = pick(["100Gi", "800Gi", "1900Gi"])
            if self.cluster.get("topology") and form != "elastic" and self.maybe(0.4):
                changes["topology"] = {pick(["required", "preferred"]): "rack"}
        if form == "elastic":
            changes |= {"kind": "Job", "nodes": pick([3, 4, 5]), "minNodes": pick([2, 3])}
        if form == "roles":
            changes["launcher"] = "python"
            changes["roles"] = {"replay": {"nodes": pick([1, 4, 8]), "pool": "cpu", "cpusPerNode": pick([4, 8, 15])}}
            changes["roles"]["replay"]["memoryPerNode"] = pick(["8Gi", "40Gi", "59Gi"])
        return fields(JOB, changes)
