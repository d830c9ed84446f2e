"""Where the facts of operators and what is vendored of them do not name the same releases: what is left to write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.base.system import vendored
from trainyard.specs.releases import Facts
from trainyard.specs.releases.derived import complete_facts

ONLY_NAMED = frozenset({("argo-cd", "3.2.6")})
"""Releases of which the documents were read, and no API types."""


def missing(facts: dict[str, Facts], schemas: Path) -> Iterator[str]:
    """Yield the step that is left for each release that only the facts, or only the folder `schemas`, know.

    `facts` are those of the files in `releases/`, by name. A project without facts is only judged, and one without API
    types says itself what it owns.
    """
    for name, said in sorted(facts.items()):
        typed = set(vendored.folders(schemas / name))
        named = set(said.releases)
        for release in sorted(typed - named):
            yield f"{name} {release}: has API types, but no facts; add it to releases of releases/{name}.yaml"
        for release in sorted(named - typed if typed else ()):
            if (name, release) not in ONLY_NAMED:
                yield (
                    f"{name} {release}: has facts, but no API types; add it to projects in schemas/lock.yaml, and run"
                    " make schemas"
                )
        yield from unread(name, said, schemas)


def unread(name: str, said: Facts, schemas: Path) -> Iterator[str]:
    """Yield the step that is left for each release whose cluster-scoped kinds nobody has read."""
    known = complete_facts(name, said, schemas)
    for version, release in known.releases.items():
        if release.cluster_kinds is not None:
            continue
        if known.chart is None:
            yield f"{name} {version}: nobody read the kinds of its manifests; add clusterKinds to releases/{name}.yaml"
        else:
            yield (
                f"{name} {version}: nobody read the templates of its chart; pull it into"
                f' <folder>/{name}/{version}/{known.chart.name}, and run make schemas ARGS="--charts <folder>"'
            )
