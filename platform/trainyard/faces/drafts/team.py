"""A team that is about to be written: what has to be known, its file, and the queues that admit it from then on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import dump
from trainyard.base.errors import SpecError
from trainyard.base.findings import did_you_mean
from trainyard.base.system.repository import TEAMS, cluster_file, team_file
from trainyard.faces.drafts.questions import NONE, FileDraft, Question, in_field, split, unless_none
from trainyard.specs.editing.items import add_item
from trainyard.specs.models.team import Team
from trainyard.specs.reading import layout

HEADER = "# yaml-language-server: $schema=../../schemas/trainyard/team.json\n"

SECRET = re.compile(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?")

VOLUME = "checkpoints"
"""Name of the volume that a new team gets."""


class TeamDraft(FileDraft):
    """A team of a repository, as far as it is known."""

    def questions(self) -> Iterator[Question]:
        """Yield the questions of a draft, each after the previous ones are answered."""
        yield Question("name", "name of the team", wrong=self.wrong_name)
        wrong = in_field(Team, "group")
        yield Question("group", "group of its members", default=self.answers["name"], wrong=wrong)
        known = self.queues()
        words = f"queues that admit the team, separated by commas ({', '.join(known)})"
        only = known[0] if len(known) == 1 else None
        yield Question("queues", words, default=only, wrong=unless_none(self.wrong_queues))
        storages = self.storages()
        best = storages[0] if storages else NONE
        yield Question("storage", "storage for its checkpoints", (*storages, NONE), default=best, asked=bool(storages))
        if self.answers["storage"] != NONE:
            size = in_field(Team, "volumes", VOLUME, "size")
            yield Question("size", "size of that volume", default="1Ti", wrong=size)
        levels = ("restricted", "baseline", "privileged")
        yield Question("pod-security", "Pod Security level", levels, default=levels[0], asked=False)
        wrong = unless_none(self.wrong_secrets)
        yield Question("secrets", "secrets in its namespace, separated by commas", default=NONE, wrong=wrong)

    def wrong_name(self, name: str) -> str | None:
        """Return the problem of a new team's name, which names a file and a namespace."""
        if wrong := layout.check_name(team_file(name), TEAMS, name):
            return wrong.message
        return f"team {name!r} exists already; choose another name" if name in self.taken else None

    def queues(self) -> list[str]:
        """Return all queues, each behind its cluster."""
        return [
            f"{cluster}/{queue}"
            for cluster, one_cluster in sorted(self.specs.clusters.items())
            for queue in one_cluster.queues
        ]

    def wrong_queues(self, answer: str) -> str | None:
        """Return the problem of a list of queues."""
        known = self.queues()
        for name in split(answer):
            if name not in known:
                return f"queue {name!r} must be <cluster>/<queue>; {did_you_mean(name, known)}"
        return None if split(answer) else f"queues must be some of {', '.join(known)}, or {NONE}"

    def wrong_secrets(self, answer: str) -> str | None:
        """Return the problem of a list of secrets."""
        for name in split(answer):
            if not SECRET.fullmatch(name):
                return f"secret {name!r} must be lower-case letters, digits, inner '-' and '.'"
        return None

    def chosen(self) -> list[tuple[str, str]]:
        """Return the clusters and queues that are to admit it."""
        if self.answers["queues"] == NONE:
            return []
        parts = (name.partition("/") for name in split(self.answers["queues"]))
        return list(dict.fromkeys((cluster, queue) for cluster, _, queue in parts))

    def storages(self) -> tuple[str, ...]:
        """Return the storage classes that many nodes may write to, those of most of its clusters first."""
        clusters = {cluster for cluster, _ in self.chosen()}
        found: dict[str, int] = {}
        for cluster in sorted(clusters):
            for name, storage in self.specs.clusters[cluster].storage.items():
                if storage.access == "ReadWriteMany":
                    found[name] = found.get(name, 0) + 1
        return tuple(sorted(found, key=lambda name: (-found[name], name)))

    def file(self) -> str:
        """Return the text of its file."""
        has = {name: answer for name, answer in self.answers.items() if answer != NONE}
        fields: dict[str, Any] = {"group": has["group"], "podSecurity": has["pod-security"]}
        if "storage" in has:
            volume: dict[str, Any] = {"storage": has["storage"], "size": has["size"]}
            clusters = {cluster for cluster, _ in self.chosen()}
            there = {name for name in clusters if self.writable(name, has["storage"])}
            if there != clusters:
                volume["clusters"] = sorted(there)
            fields["volumes"] = {VOLUME: volume}
        if "secrets" in has:
            fields["secrets"] = split(has["secrets"])
        return HEADER + dump(fields)

    def writable(self, cluster: str, storage: str) -> bool:
        """Whether a cluster has a storage class of that name, which many nodes may write to."""
        found = self.specs.clusters[cluster].storage.get(storage)
        return found is not None and found.access == "ReadWriteMany"

    def changes(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the files to write, given those of its clusters; raises SpecError where only a person can edit one."""
        name = self.answers["name"]
        changes = {team_file(name): self.file()}
        for file, queue in dict.fromkeys(self.holder(*chosen) for chosen in self.chosen()):
            text = changes.get(file) or texts.get(file)
            if text is None:
                raise SpecError(f"queue {queue!r} comes from the base {file}; choose that cluster's queue as well")
            changes[file] = add_item(text, file, ("queues", queue, "teams"), name)
        return changes

    def holder(self, cluster: str, queue: str) -> tuple[str, str]:
        """Return the file that says who uses a queue, of a cluster or of its base, and the queue."""
        source = self.specs.sources.get(f"cluster/{cluster}")
        return (source.location(("queues", queue, "teams")).file if source else cluster_file(cluster)), queue
