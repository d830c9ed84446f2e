"""What a folder of somebody else's holds beside objects: charts, kustomizations with their patches, files of programs.

Sources: helm v3.19 pkg/chart/loader/load.go; kustomize v5.7 api/types/kustomization.go, whose files are those fields.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard.base.documents import load
from trainyard.base.manifests import maps_in
from trainyard.base.system import files
from trainyard.base.system.files import PIPED
from trainyard.judge.checks.result import Other, Unrendered
from trainyard.judge.checks.templates import is_template

Input = tuple[str, bytes]

TEMPLATES, PATCHES = "template of a Helm chart", "patch of a kustomization"
CHARTS, KUSTOMIZATIONS = "file of a Helm chart", "kustomization"
GO_TEMPLATE = "Go template"
CHART = "Chart.yaml"
SETTINGS = re.compile(r"(?:ci/)?[^/]*values[^/]*\.(?:ya?ml|json)")
NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
RESOURCES = ("resources", "bases", "components", "crds")
"""Fields of a kustomization that name objects or folders of them."""
PATCHED = ("patches", "patchesStrategicMerge", "patchesJson6902")
OTHERS = ("configurations", "replacements", "generators", "transformers", "validators")
"""Fields that name files for kustomize itself."""
PATCH_NAME = re.compile(r"(?:^|[-_./])patch(?:es)?(?:[-_./]|$)")


@dataclass(slots=True)
class Sifted:
    """The files that may hold objects, and what the others are."""

    files: list[Input] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)
    unrendered: list[Unrendered] = field(default_factory=list)
    resources: frozenset[str] = frozenset()
    """Files that a kustomization makes its objects of."""
    others: list[Other] = field(default_factory=list)
    """What each of the other files is."""

    def leave_out(self, name: str, what: str) -> None:
        """Count a file that is no manifest."""
        self.passed[what] += 1
        self.others.append(Other(name, what))


@dataclass(frozen=True, slots=True)
class Kustomization:
    """One kustomization: the files and folders that it names, as absolute paths."""

    resources: frozenset[Path] = frozenset()
    patches: frozenset[Path] = frozenset()
    component: bool = False
    """Whether others alone build it."""


def sift(inputs: Iterable[Input], *, named: Iterable[str] = ()) -> Sifted:
    """Part files that may hold objects from those of Helm and kustomize; of the `named` themselves none is guessed."""
    own = {Path(file_name).as_posix() for file_name in named}
    found, charts, builds = Sifted(), set[Path](), set[Path]()
    here = Path.cwd()
    given = [(name, data, here / name if ".." not in name else next(absolute(here, [name]))) for name, data in inputs]
    look, read = cache(chart_of), cache(kustomization)
    above = cache(partial(find_kustomizations, read=read))
    builders = [
        one_kustomization
        for home in {file.parent for _, _, file in given}
        for one_kustomization in above(home).values()
    ]
    resources = frozenset[Path]().union(*(builder.resources for builder in builders))
    patches = frozenset[Path]().union(*(builder.patches for builder in builders)) - resources
    for name, data, file in given:
        chart = None if name == PIPED else look(file.parent)
        if name == PIPED:
            found.files.append((name, data))
        elif chart is not None and (why := part_of(chart, file)):
            found.leave_out(name, why)
            charts.add(outermost(chart))
        elif file.name in NAMES:
            found.leave_out(name, KUSTOMIZATIONS)
            builds.add(file.parent)
        elif file in patches or (
            file not in resources and name not in own and is_called_patch(file, above(file.parent))
        ):
            found.leave_out(name, PATCHES)
        elif name not in own and is_template(data):
            found.leave_out(name, GO_TEMPLATE)
        else:
            found.files.append((name, data))
            found.resources |= {name} if file in resources else frozenset()
    found.unrendered += [Unrendered("helm", folder_name(path)) for path in sorted(charts) if not is_library(path)]
    alone = (build for build in sorted(builds) if build not in resources and is_built(read(build)))
    found.unrendered += [Unrendered("kustomize", folder_name(path)) for path in alone]
    return found


def folder_name(folder: Path) -> str:
    """Return a folder as somebody who stands here would name it."""
    here = Path.cwd()
    return folder.relative_to(here).as_posix() if folder.is_relative_to(here) else folder.as_posix()


def chart_of(folder: Path) -> Path | None:
    """Return the chart that a folder is in, the innermost of several."""
    return next((parent for parent in (folder, *folder.parents) if (parent / CHART).is_file()), None)


def part_of(chart: Path, file: Path) -> str | None:
    """Return the part that a file plays in its chart, None where it may be an object: those of `crds/` are."""
    inside = file.relative_to(chart).parts
    if inside[0] == "templates":
        return TEMPLATES
    return CHARTS if inside[0] in (CHART, "Chart.lock") or SETTINGS.fullmatch("/".join(inside)) else None


def outermost(chart: Path) -> Path:
    """Return the chart that is rendered: one below `charts/` of another is rendered with it."""
    while chart.parent.name == "charts" and (chart.parent.parent / CHART).is_file():
        chart = chart.parent.parent
    return chart


def is_library(chart: Path) -> bool:
    """Whether a chart only holds what others include."""
    return value_of(chart / CHART).get("type") == "library"


def find_kustomizations(folder: Path, read: Callable[[Path], Kustomization | None]) -> Mapping[Path, Kustomization]:
    """Return the kustomizations of a folder and of those above it, up to where a repository begins."""
    found: dict[Path, Kustomization] = {}
    for parent in (folder, *folder.parents):
        if (here := read(parent)) is not None:
            found[parent] = here
        if (parent / ".git").exists():
            break
    return found


def kustomization(folder: Path) -> Kustomization | None:
    """Return the kustomization of a folder, None where it has none."""
    file = next((file for name in NAMES if (file := folder / name).is_file()), None)
    if file is None:
        return None
    value = value_of(file)
    resources = [path for key in RESOURCES for path in texts(value.get(key))]
    return Kustomization(
        resources=frozenset(absolute(folder, resources)),
        patches=frozenset(absolute(folder, [*own_files(value)])),
        component=value.get("kind") == "Component",
    )


def own_files(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files of a kustomization that hold no objects: patches, settings, contents of what it generates."""
    for key in (*PATCHED, *OTHERS):
        yield from texts(value.get(key))
        yield from (mapping["path"] for mapping in maps_in(value.get(key)) if isinstance(mapping.get("path"), str))
    for mapping in (*maps_in(value.get("configMapGenerator")), *maps_in(value.get("secretGenerator"))):
        for path in (*texts(mapping.get("files")), *texts(mapping.get("envs"))):
            yield path.rpartition("=")[2]
    for mapping in maps_in(value.get("helmCharts")):
        yield from texts([mapping.get("valuesFile")])


def value_of(file: Path) -> Mapping[str, Any]:
    """Return the map in a file, empty where the file holds none."""
    documents, _ = load(files.read(file) or b"", file=str(file))
    return documents[0].value if documents and isinstance(documents[0].value, dict) else {}


def texts(value: object) -> list[str]:
    """Return the texts of a list that may be paths: those of one line."""
    return [text for text in value if isinstance(text, str) and "\n" not in text] if isinstance(value, list) else []


def absolute(folder: Path, paths: Iterable[str]) -> Iterator[Path]:
    """Yield paths as they are from the root; `..` takes a part of the text away, as kustomize does it."""
    for path in paths:
        parts = [] if PurePosixPath(path).is_absolute() else list(folder.parts)
        for part in PurePosixPath(path).parts:
            if part == "..":
                parts = parts[:-1] or parts
            else:
                parts.append(part)
        yield Path(*parts)


def is_called_patch(file: Path, above: Mapping[Path, Kustomization]) -> bool:
    """Say whether a file that no kustomization names calls itself a patch, beside one or in a folder of patches."""
    near = next((path for path in (file.parent, file.parent.parent) if path in above), None)
    return near is not None and PATCH_NAME.search(file.relative_to(near).as_posix()) is not None


def is_built(found: Kustomization | None) -> bool:
    """Say whether a kustomization can be built by itself: a component is a part of others."""
    return found is not None and not found.component
