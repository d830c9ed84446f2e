"""The page on a cluster that comes up from nothing: from what a test saw and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

RECORD = "tests/live/first_sync.json"
WHOLE = "tests/live/whole_clusters.json"
Event = Mapping[str, Any]


def page(root: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    record = json.loads((root / RECORD).read_text("utf-8"))
    phases: Sequence[Mapping[str, Any]] = record["phases"]
    (first, *_) = phases
    yield "# A cluster from nothing"
    yield ""
    yield "| Change in Git | Seen after |"
    yield "|---|---|"
    for phase in phases:
        note = f" ({phase['note']})" if "note" in phase else ""
        yield f"| {change(phase['what'])} {phase['what']} | {phase['seconds']:.0f} s{note} |"
    yield ""
    yield from INTRODUCTION.format(seconds=round(first["seconds"]), load=max(record["load"])).splitlines()
    yield ""
    yield "## Order"
    yield ""
    yield "Creation times of the API server, in seconds after the root Application:"
    yield ""
    yield "| Object | s |"
    yield "|---|---|"
    for name, seconds in sorted(record["order"].items(), key=lambda item: float(item[1])):
        yield f"| {name} | {seconds:.0f} |"
    yield ""
    yield "## Applications"
    yield ""
    yield "| Application | Attempts | Waited for | Synced and Healthy after s |"
    yield "|---|---|---|---|"
    for name in sorted({event["name"] for event in record["events"]}):
        mine = [event for event in record["events"] if event["name"] == name and event["at"] <= first["seconds"] + 5]
        if mine:
            yield f"| {name} | {max(event['attempts'] for event in mine)} | {waited(mine)} | {settled(mine)} |"
    yield ""
    yield from clusters(json.loads((root / WHOLE).read_text("utf-8")))
    yield ""
    yield from SIMULATED.splitlines()
    yield ""
    yield "| Operator | Chart or manifests |"
    yield "|---|---|"
    for name, version in record["operators"].items():
        yield f"| {name} | {version} |"
    yield ""
    yield from AGAIN.splitlines()


def change(what: str) -> str:
    """Return in few words what was changed before something was seen."""
    return "An upgrade:" if " instead of " in what and "quota" not in what else CHANGES.get(what, "")


def clusters(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield the clusters of this repository that came up in the same way."""
    yield from WHOLE_CLUSTERS.splitlines()
    yield ""
    yield "| Cluster | Argo CD | Kubernetes | Applications | Kinds | All Synced after s | Load | Most attempts | Runs |"
    yield "|---|---|---|---|---|---|---|---|---|"
    columns = ("kubernetes", "applications", "kinds", "after", "load", "attempts")
    for name, releases in sorted(rows.items()):
        for release, row in sorted(releases.items()):
            runs = ", ".join(f"{team} {health}" for team, health in sorted(row["runs"].items()))
            shown = {**row, "after": f"{row['seconds']} ({row['note']})" if "note" in row else row["seconds"]}
            yield f"| {name} | {release} | {' | '.join(str(shown[key]) for key in columns)} | {runs} |"


CHANGES = {
    "every Application is Synced and Healthy": "The root Application:",
    "pods of a JobSet and a TrainJob run": "Three jobs:",
    "the new run's pod runs, and the old run is gone": "A changed job:",
    "the queue has the quota of 4 nodes instead of 3": "One more node:",
    "no pod of the team that leaves is left": "Retired jobs:",
    "the team's Applications are gone, all others as before": "A removed team:",
}

INTRODUCTION = """\
On an empty cluster somebody applied the root Application and its project, and nothing else. After {seconds} s all
Applications were Synced and Healthy, and no operation had failed. The machine has two cores, and a load of up to
{load} with other work. Most of the time Argo CD read the definitions of operators, each of which changes several
times while its operator starts. Upgrades were written by `trainyard upgrade`: the Deployments that it named restarted,
and no other, and the Applications that it named changed. A person deleted what it named as left over. Runs stayed the
same through all changes of the platform. When a team goes, its namespace stays, with its claims and, until somebody
deletes them, its rights ([removing and rebuilding](rebuilding.md))."""

WHOLE_CLUSTERS = """\
## Clusters of this repository

The same was done with clusters of this repository as they are, on four nodes of each pool. Every Application became
Synced and Healthy, with four exceptions. Those of runs are *Suspended* while their runs are queued and *Progressing*
while they run, and a person syncs `hardware`. KEDA's chart and the object of Weights & Biases stay *Progressing*, since
their programs were not there. Where the cluster's file says that a Prometheus Operator is there, somebody had made its
namespace and its definitions.

Argo CD 3.6.1 does the same as 3.2.6, but for one defect: a sync fails for good where a rule inside a map of a running
job is ignored. On sirocco one MPIJob kept a PyTorchJob away. From 3.6 on Trainyard renders
[another rule](argocd.md#releases-of-argo-cd); once it was merged, the waiting sync ended by itself.

On levante the API server had the [feature gates](clusters.md#queues-and-quota) of its gangs. Without them it dropped
the gang of a Job, and the Application of runs stayed *OutOfSync*.

Healthy is not all on sirocco. The training operator had started before Volcano's types were there, so its
`PyTorchJob` had no pods until the operator [was restarted](volcano.md#on-a-new-cluster). A `VolcanoJob` ran to its end.

Garnet was not tried: OpenShift serves types of its own, and its lifecycle manager installs the operators of GPUs and
networks. Neither is among the programs here."""

SIMULATED = """\
## What was real

| Part | |
|---|---|
| etcd, kube-apiserver, controllers, scheduler | real, Kubernetes 1.35.4 |
| Argo CD with Helm and Kustomize | real, 3.2.6, and 3.6.1 for clusters of this repository |
| Programs of operators | real processes, with the rights, the ConfigMap and the Secrets of their charts |
| Webhooks, certificates, Kueue's visibility API | real; a stand-in leads the API server to the processes |
| Certificates of the Training Operator and of Volcano | made by a stand-in, Volcano's in place of its hook's script |
| Charts and manifests | the pinned ones, from a folder of the repository instead of a registry |
| Nodes, and that pods run | KWOK says so; no image was pulled |
| Jobs of charts end, claims get volumes | stand-ins say so |
| JobSet before and after the upgrade | real programs of 0.11.1 and 0.12.0 |
| Trainer, Kueue and KubeRay | objects of both releases, one program: 2.3.0, 0.19.2 and 1.6.2 |
| LeaderWorkerSet | objects of 0.10.0, the program is 0.9.0 |
| Volcano and MPI Operator | objects of 1.15.1 and 0.8.0, the programs are 1.14.1 and 0.8.2 |
| GPUs, networks, storage | absent, so no `hardware` Application, which a person syncs |

## Operators"""

AGAIN = """\
## Again

```sh cluster
tools/oracles/cluster/empty --name nothing
TRAINYARD_EMPTY_CLUSTER=$KUBECONFIG TRAINYARD_THROWAWAY=1 make test T="tests/live/test_from_nothing.py --update"
tools/oracles/cluster/empty --name hydra --argocd 3.6.1
export TRAINYARD_EMPTY_NAME=hydra TRAINYARD_ARGOCD_RELEASE=3.6.1
TRAINYARD_EMPTY_CLUSTER=$KUBECONFIG TRAINYARD_THROWAWAY=1 make test T="tests/live/test_whole_clusters.py --update"
make docs
```

`empty` needs Helm and Kustomize on the path, and the [oracles](../tools/oracles/README.md) `cluster`, `argocd` and
`charts`. The tests record what they see in `tests/live/`, from which `make docs` writes this page."""


def waited(events: Sequence[Event]) -> str:
    """Return in few words what an Application said when it was tried again."""
    messages = [event["message"] for event in events if "reason" in event["message"] or "not valid" in event["message"]]
    for text, words in REASONS.items():
        if any(text in message for message in messages):
            return words
    return ""


REASONS = {
    "failed calling webhook": "a webhook",
    "no matches for kind": "a type",
    "not valid": "a type",
    "namespaces": "its namespace",
}


def settled(events: Sequence[Event]) -> str:
    """Return the second from which an Application stayed in sync and healthy."""
    at = ""
    for event in events:
        good = (event["sync"], event["health"]) == ("Synced", "Healthy")
        at = (at or f"{event['at']:.0f}") if good else ""
    return at
