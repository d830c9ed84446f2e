"""The second engine: kubeconform, strict, on the same files and schemas, so that no verdict rests on one program.

Its schema locations are the releases that the cluster runs, so it finds what `apiserver.catalog` finds.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainyard.base import documents
from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding, Location, ObjectRef
from trainyard.base.memory import Memory, World
from trainyard.base.rules import Rule
from trainyard.base.system import cache, kubeconform, process, reads, scratch
from trainyard.upstream.apiserver import Catalog, Kind
from trainyard.upstream.apiserver.catalog.overlap import OWNERS
from trainyard.upstream.apiserver.catalog.served import INPUTS

RULE = Rule(
    id="schema/kubeconform",
    title="A second engine, kubeconform, accepts what Trainyard accepts.",
    why="one of them is wrong about the object, and the server may refuse it",
    fix="correct the field; if the server accepts it, report this to Trainyard",
    source=f"kubeconform {kubeconform.VERSION}",
    layer="schema",
)
TEMPLATE = (
    '{{ if eq .Group "v1" }}core{{ else }}{{ .Group }}{{ end }}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json'
)
"""Where a schema is in a release's folder; to kubeconform the group of a core kind is its version."""

CONCERN = "kubeconform"
SCHEMAS = "schemas of a release"
"""A sort of reading: a folder of schemas, or the schema of a kind whose CRD is among the inputs."""

GENERATED = "{{ generateName }}"
"""What kubeconform puts behind a generateName."""

COMPLAINT = re.compile(r"- at '(.*?)': (.*?)(?=\s+- at '|$)", re.DOTALL)
Result = Mapping[str, Any]

SEPARATOR = b"\n---\n"
NOTHING = {"valid": 0, "skipped": 0}

FILES = 500
"""So many files are worth a thread of their own."""

GARBAGE = "400"
"""By how much more memory may grow before Go looks for garbage, in percent: a run of it is short."""


def check(root: Path | None, catalog: Catalog, inputs: Sequence[tuple[str, bytes]]) -> Iterator[Finding]:
    """Yield the refusals of kubeconform for files, given by name and content, in the order of their lines.

    Results are cached by the contents of a folder. Raises ToolError where kubeconform is missing: it is never skipped
    in silence.
    """
    with scratch.folder("kubeconform") as place:
        # Whoever asks has loaded the same schemas into the catalog, and looked for the program.
        with reads.apart(), reads.recording(World()) as record:
            program = kubeconform.find(root)
            engine = Engine(program, locations(catalog, place / "schemas"), place / "files")
        memory = Memory(cache.private(CONCERN, outside=root), World())
        asked = f"folder {reads.name_of(record.common)}"
        results: dict[int, list[Result]] = {}
        fresh: list[list[int]] = []
        for numbers in folders(inputs):
            known = memory.get(asked, *(inputs[number][1] for number in numbers))
            if known is None:
                fresh.append(numbers)
            else:
                results |= zip(numbers, known, strict=True)
        results |= engine.run({number: inputs[number][1] for numbers in fresh for number in numbers})
        for numbers in fresh:
            memory.put([results[number] for number in numbers], {}, asked, *(inputs[number][1] for number in numbers))
        for number, (file, data) in enumerate(inputs):
            yield from sorted(findings(file, data, results[number], catalog), key=lambda finding: finding.order)


def folders(inputs: Sequence[tuple[str, bytes]]) -> Iterator[list[int]]:
    """Yield the numbers of the files of each folder: a run's are remembered together, as they change together."""
    found: dict[str, list[int]] = {}
    for number, (file, _) in enumerate(inputs):
        found.setdefault(file.rpartition("/")[0], []).append(number)
    yield from found.values()


class Engine:
    """The program with its schema locations, and a folder to put files into."""

    def __init__(self, program: Path, places: Sequence[str], folder: Path) -> None:
        self.program = program
        self.locations = places
        self.folder = folder

    def run(self, contents: Mapping[int, bytes]) -> Mapping[int, list[Result]]:
        """Judge files, and return the results that are not right, by the files' numbers.

        All are handed over as one text at first, as nearly always all are right: to write thousands of files takes
        longer than to judge them. Only where one is not, results are told apart by their files.
        """
        found: dict[int, list[Result]] = {index: [] for index in contents}
        if not contents or self.all_right(list(contents.values())):
            return found
        self.folder.mkdir()
        for index, data in contents.items():
            (self.folder / f"{index}.yaml").write_bytes(data)
        for result in self.ask(len(contents), str(self.folder))["resources"]:
            found[int(Path(result["filename"]).stem)].append(result)
        return found

    def all_right(self, contents: Sequence[bytes]) -> bool:
        """Say whether nothing is wrong with any of these files, and each of them has a document."""
        said = self.ask(len(contents), "-summary", stdin=SEPARATOR.join(contents))
        count = said["summary"]
        return not said["resources"] and count["valid"] + count["skipped"] >= len(contents)

    def ask(self, count: int, *arguments: str, stdin: bytes = b"") -> Mapping[str, Any]:
        """Return the answer about so many files; raises ToolError where there is none."""
        command = [str(self.program), "-strict", "-output", "json", "-n", str(workers(count))]
        for location in self.locations:
            command += ["-schema-location", location]
        settings = process.environment(GOGC=GARBAGE)
        done = process.run([*command, *arguments], cwd=self.folder.parent, stdin=stdin, env=settings)
        try:
            answer: Mapping[str, Any] = json.loads(done.out)
            return {"resources": answer["resources"], "summary": answer.get("summary") or NOTHING}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ToolError(f"{self.program.name} failed: {done.complaint}") from error


def workers(count: int) -> int:
    """Return how many threads judge so many files: each reads and compiles the schemas that it meets by itself."""
    return max(1, min(os.cpu_count() or 1, count // FILES))


def locations(catalog: Catalog, folder: Path) -> list[str]:
    """Return one schema location for each release, the owners of shared groups first, and one for the inputs' CRDs."""
    owners = set(OWNERS.values())
    chosen = sorted(catalog.projects.items(), key=lambda item: item[0] not in owners)
    releases = [("kubernetes", catalog.kubernetes), *chosen]
    places = [f"{catalog.shelf.folder / project / release}" for project, release in releases]
    for own in places:
        reads.ask(SCHEMAS, own)
    given = [kind for kind in catalog.served() if kind.project == INPUTS]
    for kind in given:
        write(kind, folder)
    return [f"{place}/{TEMPLATE}" for place in ([str(folder)] if given else []) + places]


def write(kind: Kind, folder: Path) -> None:
    """Write the schema of a kind whose CRD is among the inputs."""
    path = folder / kind.group / f"{kind.kind.lower()}_{kind.version}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(kind.source)
    reads.note(SCHEMAS, f"{kind.group}/{path.name}", cache.key(text))
    path.write_text(text, encoding="utf-8")


@reads.answer(SCHEMAS)
def schemas_digest(folder: str, _: reads.Digests) -> str:
    """Return a digest of the schemas in the folder of a release, of which each is known by its size and time."""
    stamps = []
    for path in sorted(Path(folder).glob("*/*.json")):
        status = path.stat()
        stamps.append(f"{path.parent.name}/{path.name} {status.st_size} {status.st_mtime_ns}")
    return cache.key(*stamps)


def findings(file: str, data: bytes, results: Sequence[Result], catalog: Catalog) -> Iterator[Finding]:
    """Yield the findings of one file, each at the line of its field."""
    if not results:
        return
    decoded, _ = documents.load(data, file=file)
    for result in results:
        document = next((document_ for document_ in decoded if is_about(document_, result)), None)
        for pointer, message in complaints(result["msg"]):
            if is_dropped(pointer, result, catalog):
                continue
            path = field(pointer, document)
            location = document.location(path) if document else Location(file)
            found = RULE.of(location, f"kubeconform: {message}")
            about = documents.format_path(path) if path else None
            yield replace(found, object=reference(result, document), path=about)


def complaints(message: str) -> list[tuple[str, str]]:
    """Return the places and words of what is wrong, without those that only lead to others."""
    found: list[tuple[str, str]] = COMPLAINT.findall(message)
    return [complaint for complaint in found if complaint[1] != "validation failed"] or found or [("", message)]


def is_about(document: documents.Document, result: Result) -> bool:
    """Whether a result is about a document of the file: the first of that kind and name."""
    value = document.value if isinstance(document.value, dict) else {}
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or (f"{metadata['generateName']}{GENERATED}" if metadata.get("generateName") else "")
    return (value.get("apiVersion"), value.get("kind"), name) == (result["version"], result["kind"], result["name"])


def is_dropped(pointer: str, result: Result, catalog: Catalog) -> bool:
    """Whether a complaint is about a status that the server drops before it judges an object."""
    if pointer.split("/")[1:2] != ["status"]:
        return False
    group, _, version = result["version"].rpartition("/")
    kind = catalog.lookup(group, version, result["kind"])
    return isinstance(kind, Kind) and kind.status


def field(pointer: str, document: documents.Document | None) -> documents.Path:
    """Return the path that kubeconform writes with slashes, read along the document."""
    value = document.value if document else None
    path: list[str | int] = []
    rest = pointer.removeprefix("/")
    while rest:
        if isinstance(value, dict):
            key = max((key for key in value if f"{rest}/".startswith(f"{key}/")), key=len, default=None)
            if key is None:
                break
            path.append(key)
            value, rest = value[key], rest[len(key) + 1 :]
            continue
        head, _, rest = rest.partition("/")
        if not isinstance(value, list) or not head.isdecimal() or int(head) >= len(value):
            break
        path.append(int(head))
        value = value[int(head)]
    return tuple(path)


def reference(result: Result, document: documents.Document | None) -> ObjectRef:
    """Return which object a result is about."""
    value = document.value if document and isinstance(document.value, dict) else {}
    metadata = value.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    name = result["name"].removesuffix(GENERATED)
    return ObjectRef(result["version"], result["kind"], namespace if isinstance(namespace, str) else None, name)
