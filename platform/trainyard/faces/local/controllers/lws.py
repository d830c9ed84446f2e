"""LeaderWorkerSet: groups of a leader and its workers.

Facts: lws v0.9.0 pkg/utils/pod/pod_utils.go AddLWSVariables, pkg/webhooks/pod_webhook.go.
"""

from __future__ import annotations

from trainyard.faces.local.controllers.base import (
    Controller,
    Made,
    Object,
    Objects,
    Pod,
    count,
    name_of,
    namespace_of,
    pod,
    service,
    variable,
)

PREFIX = "leaderworkerset.sigs.k8s.io/"


class LeaderWorkerSet(Controller):
    """Groups whose pods start and restart together."""

    kind = "LeaderWorkerSet"
    group = "leaderworkerset.x-k8s.io"

    def make(self, job: Object, _objects: Objects) -> Made:
        """Return the pods of all groups, leaders first, and the Service."""
        groups = count(job["spec"].get("replicas"), 1)
        size = count(job["spec"]["leaderWorkerTemplate"].get("size"), 1)
        pods = [self.member(job, group, index, size) for group in range(groups) for index in range(size)]
        name, namespace = name_of(job), namespace_of(job)
        network = (job["spec"].get("networkConfig") or {}).get("subdomainPolicy") or "Shared"
        if network == "UniquePerReplica":
            found = [
                service(
                    f"{name}-{group}",
                    namespace,
                    {f"{PREFIX}name": name, f"{PREFIX}group-index": str(group)},
                    unready=True,
                )
                for group in range(groups)
            ]
        else:
            found = [service(name, namespace, {f"{PREFIX}name": name}, unready=True)]
        return Made(tuple(pods), tuple(found))

    def member(self, job: Object, group: int, index: int, size: int) -> Pod:
        """Return one pod of a group; the first is the leader, of its own template where there is one."""
        templates, set_name = job["spec"]["leaderWorkerTemplate"], name_of(job)
        leader = f"{set_name}-{group}"
        name = leader if index == 0 else f"{leader}-{index}"
        template = (
            templates["workerTemplate"] if index else templates.get("leaderTemplate") or templates["workerTemplate"]
        )
        labels = {
            f"{PREFIX}name": set_name,
            f"{PREFIX}group-index": str(group),
            f"{PREFIX}worker-index": str(index),
            "apps.kubernetes.io/pod-index": str(index or group),
            "statefulset.kubernetes.io/pod-name": name,
        }
        notes = {f"{PREFIX}size": str(size), **({f"{PREFIX}leader-name": leader} if index else {})}
        made = pod(template, name, namespace_of(job), labels=labels, annotations=notes)
        network = (job["spec"].get("networkConfig") or {}).get("subdomainPolicy") or "Shared"
        subdomain = leader if network == "UniquePerReplica" else set_name
        made["spec"] |= {"hostname": name, "subdomain": subdomain}
        made["spec"].setdefault("restartPolicy", "Always")
        told = [
            variable("LWS_LEADER_ADDRESS", f"{leader}.{subdomain}.{namespace_of(job)}"),
            variable("LWS_GROUP_SIZE", size),
            variable("LWS_WORKER_INDEX", index),
        ]
        names = {item["name"] for item in told}
        for container in (*made["spec"].get("initContainers", ()), *made["spec"]["containers"]):
            own = [one_variable for one_variable in container.get("env") or () if one_variable["name"] not in names]
            container["env"] = [*told, *own]
        return Pod("worker" if index else "leader", group * size + index, made, leader)


CONTROLLERS = (LeaderWorkerSet(),)
