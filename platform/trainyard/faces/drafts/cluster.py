"""A cluster that is about to be written: what has to be known, and the file that follows from its nodes' shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.base.documents import dump
from trainyard.base.errors import SpecError
from trainyard.base.findings import did_you_mean
from trainyard.base.system.data import minors
from trainyard.base.system.repository import CLUSTERS, cluster_file
from trainyard.base.versions import order
from trainyard.faces.drafts.questions import FileDraft, Question, split, whole_number
from trainyard.specs.distributions import SERVICES
from trainyard.specs.gpus import generation_of
from trainyard.specs.reading import layout
from trainyard.specs.releases import releases
from trainyard.specs.shapes import Shape, names, preset

HEADER = "# yaml-language-server: $schema=../../schemas/trainyard/cluster.json\n"

ALWAYS = ("kueue", "jobset")
"""Who admits jobs to quotas, and what carries gangs where a job says nothing else."""

OFFERS = {"nvidia": "gpu-operator", "amd": "amd-gpu-operator"}
"""Who offers the GPUs of a vendor."""

CHANNELS = "dra-driver-nvidia-gpu"
"""Who gives pods a channel of their NVLink domain, where that is more than a node; it goes without the GPU operator."""

NVLINK, GPU_CLIQUE = "domain", "nvidia.com/gpu.clique"
"""A level of the topology, and the label by which GPU feature discovery tells NVLink domains apart."""

PRIORITIES = {"low": 0, "normal": 100, "high": 1000}


class ClusterDraft(FileDraft):
    """A cluster of a repository, as far as it is known."""

    def questions(self) -> Iterator[Question]:
        """Yield the questions of a draft, each after the previous ones are answered."""
        yield Question("name", "name of the cluster", wrong=self.wrong_name)
        yield Question("shape", "shape of the nodes", names())
        yield Question("nodes", "nodes", wrong=whole_number("nodes"))
        pool = pool_of(self.shape)
        yield Question("pool", "name of the pool", default=pool, wrong=in_name("pool"))
        teams = self.specs.teams
        only = next(iter(teams)) if len(teams) == 1 else None
        words = f"teams that its queue admits, separated by commas ({', '.join(teams)})"
        yield Question("teams", words, default=only, wrong=self.wrong_teams)
        yield Question("queue", "name of the queue", default="training", wrong=in_name("queue"))
        known = minors()
        yield Question("kubernetes", "Kubernetes", known, default=known[max(len(known) - 2, 0)])
        words = "who installs the GPU operator: trainyard, or provider"
        choices = ("trainyard", "provider")
        gpus = self.shape.gpus
        if gpus is not None:
            provided = gpus.vendor == "nvidia" and (self.shape.provider is not None or self.shape.nvlink_nodes > 1)
            default = choices[provided]
            yield Question("gpu-operator", words, choices, default=default)
        if gpus is not None and gpus.vendor == "amd":
            words = "how users get access to the GPUs: udev (Trainyard renders a rule) or open (they have it already)"
            yield Question("device-access", words, ("udev", "open"), default="udev")

    @property
    def shape(self) -> Shape:
        """The shape that was chosen."""
        return preset(self.answers["shape"])

    def wrong_name(self, name: str) -> str | None:
        """Return the problem of a new cluster's name, which names its file and is known to Argo CD."""
        if wrong := layout.check_name(cluster_file(name), CLUSTERS, name):
            return wrong.message
        return f"cluster {name!r} exists already; choose another name" if name in self.taken else None

    def wrong_teams(self, answer: str) -> str | None:
        """Return the problem of a list of teams."""
        for name in split(answer):
            if name not in self.specs.teams:
                return f"team {name!r} does not exist; {did_you_mean(name, self.specs.teams)}"
        if split(answer):
            return None
        return f"teams must be some of {', '.join(self.specs.teams)}"

    def fields(self) -> dict[str, Any]:
        """Return the fields of its file; the queue has all that the machines have."""
        nodes, gpus = int(self.answers["nodes"]), self.shape.gpus
        quota = {"gpus": nodes * gpus.count} if gpus else {"nodes": nodes}
        teams = list(dict.fromkeys(split(self.answers["teams"])))
        queue = {"teams": teams, "nominalQuota": {self.answers["pool"]: quota}}
        pool: dict[str, Any] = {"shape": self.answers["shape"], "nodes": nodes}
        topology: dict[str, Any] = {}
        if self.shape.nvlink_nodes > 1:
            pool["nvlink"], topology = NVLINK, {"topology": [{NVLINK: GPU_CLIQUE}]}
        if "device-access" in self.answers:
            pool["deviceAccess"] = self.answers["device-access"]
        return {
            "kubernetes": self.answers["kubernetes"],
            "argocd": {"version": newest("argo-cd"), "destination": {"name": self.answers["name"]}},
            **topology,
            **self.system(),
            "pools": {self.answers["pool"]: pool},
            "operators": self.operators(),
            "priorities": dict(PRIORITIES),
            "queues": {self.answers["queue"]: queue},
        }

    def system(self) -> dict[str, Any]:
        """Return the software of nodes, where it follows from the shape: a cloud's service, a driver that knows it."""
        system: dict[str, Any] = {}
        if self.shape.provider in SERVICES:
            system["distribution"] = SERVICES[self.shape.provider]
        gpus = generation_of(self.shape.gpus.product) if self.shape.gpus else None
        if gpus is not None and gpus.driver is not None:
            system["gpuDriverVersion"] = gpus.driver
        return {"system": system} if system else {}

    def operators(self) -> dict[str, Any]:
        """Return the newest releases of what the shape needs, and of what these need."""
        found: dict[str, Any] = {name: {"version": newest(name)} for name in ALWAYS}
        if (gpus := self.shape.gpus) is None:
            return found
        wanted = [CHANNELS if self.shape.nvlink_nodes > 1 else OFFERS[gpus.vendor]]
        if self.answers["gpu-operator"] == "provider" and wanted != [CHANNELS]:
            return found | {wanted[0]: {"version": newest(wanted[0]), "managed": False}}
        for name in wanted:
            found[name] = {"version": newest(name)}
            always = (need.operator for need in releases()[name].needs if need.value is None)
            wanted += [operator for operator in always if operator not in {*found, *wanted}]
        return found

    def file(self) -> str:
        """Return the text of its file."""
        return HEADER + dump(self.fields())


def newest(operator: str) -> str:
    """Return the newest release of an operator that is known."""
    found = releases().get(operator)
    if found is None:
        raise SpecError(f"operator {operator!r} is unknown; reinstall Trainyard")
    return max(found.releases, key=order)


def pool_of(shape: Shape) -> str:
    """Return the name that a pool of such nodes has where nobody says: of their GPU, or cpu."""
    parts = re.findall(r"[a-z]+[0-9]+[a-z]*", shape.gpus.product.lower()) if shape.gpus else []
    return parts[0] if parts else "cpu"


def in_name(what: str) -> Any:
    """Return the problem of the name of a pool or queue."""

    def wrong(answer: str) -> str | None:
        if layout.LABEL_NAME.fullmatch(answer) and len(answer) <= layout.LONGEST_NAME:
            return None
        return f"{what} {answer!r} must be lower-case letters, digits and inner '-'"

    return wrong
