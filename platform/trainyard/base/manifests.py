"""One Kubernetes object: what it is, whose it is, and where each of its fields is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar, overload

from trainyard.base.documents import Document, Path, format_path
from trainyard.base.documents.rules import ITEMS, NESTED, OBJECT, TYPED
from trainyard.base.findings import Finding, Location, ObjectRef, Severity, did_you_mean
from trainyard.base.rules import Rule

MISSING: Final = object()

ANY: Final = "*"
"""In a pattern: every item of a list, or value of a map."""

T = TypeVar("T")


class GroupVersionKind(NamedTuple):
    """The type of an object; the core group is the empty string."""

    group: str
    version: str
    kind: str


class Identity(NamedTuple):
    """What tells an object from every other; the core group and a missing namespace are empty."""

    group: str
    kind: str
    namespace: str
    name: str


def group_of(api_version: str) -> str:
    """Return the API group of an apiVersion, empty for the core."""
    return api_version.rpartition("/")[0]


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def unplaced(value: Mapping[str, Any]) -> Manifest:
    """Return an object that no file holds as one that was read."""
    whole = dict(value)
    return Manifest(Document("", 0, whole), whole)


def identity_of(value: Mapping[str, Any]) -> Identity:
    """Return the identity of an object; a part that is missing or no text is empty."""
    metadata = value.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    texts = (value.get("apiVersion"), value.get("kind"), named.get("namespace"), named.get("name"))
    api_version, kind, namespace, name = map(_text, texts)
    return Identity(group_of(api_version), kind, namespace, name)


def value_at(value: Any, path: Path, default: Any = None) -> Any:
    """Return the value at a path of keys and indices, the default where there is none."""
    for part in path:
        value = _child(value, part)
        if value is MISSING:
            return default
    return value


def matches(value: Any, pattern: Path, here: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield path and value of whatever stands at a pattern of keys, indices and `*`; null is as good as nothing."""
    for index, part in enumerate(pattern):
        if part == ANY:
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            before, rest = (*here, *pattern[:index]), pattern[index + 1 :]
            for key, item in items:
                yield from matches(item, rest, (*before, key))
            return
        value = _child(value, part, None)
        if value is None:
            return
    if value is not None:
        yield (*here, *pattern), value


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """One object of a document; `base` is its path there, which is not empty for an item of a List.

    Every property answers for any value: what is missing or of the wrong type is "" or None.
    """

    document: Document
    value: dict[str, Any]
    base: Path = ()
    holder: Manifest | None = None
    """The object that holds it, as an AppWrapper holds a JobSet; `base` then begins with the holder's."""

    @property
    def api_version(self) -> str:
        """The apiVersion as written, `batch/v1`."""
        return _text(self.value.get("apiVersion"))

    @property
    def kind(self) -> str:
        """The kind as written."""
        return _text(self.value.get("kind"))

    @property
    def group(self) -> str:
        """The API group, empty for the core."""
        return group_of(self.api_version)

    @property
    def version(self) -> str:
        """The version inside the group."""
        return self.api_version.rpartition("/")[2]

    @property
    def gvk(self) -> GroupVersionKind:
        """Group, version and kind together."""
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def identity(self) -> Identity:
        """What tells the object from every other."""
        return identity_of(self.value)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata, an empty map where it is none."""
        metadata = self.value.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def name(self) -> str:
        """The name, empty for an object that the server is to name."""
        return _text(self.metadata.get("name"))

    @property
    def namespace(self) -> str | None:
        """The namespace, None where none is written."""
        return _text(self.metadata.get("namespace")) or None

    @property
    def labels(self) -> dict[str, str]:
        """The labels whose values are strings."""
        return strings(self.metadata.get("labels"))

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations whose values are strings."""
        return strings(self.metadata.get("annotations"))

    @property
    def ref(self) -> ObjectRef:
        """The identity that findings carry."""
        return ObjectRef(self.api_version, self.kind, self.namespace, self.name)

    def inside(self, path: Path, value: dict[str, Any]) -> Manifest:
        """Return an object that this one holds at a path."""
        return Manifest(self.document, value, (*self.base, *path), self)

    @property
    def outer(self) -> Manifest:
        """The object that a person writes: the holder of what another object holds, else the object itself."""
        return self if self.holder is None else self.holder.outer

    def path_in_outer(self, path: Path) -> Path:
        """Return the path of a field in the object that a person writes."""
        return (*self.base[len(self.outer.base) :], *path)

    def finding(
        self,
        rule: Rule,
        path: Path,
        message: str,
        *,
        key: bool = False,
        severity: Severity | None = None,
        fix: str | None = None,
    ) -> Finding:
        """Return a rule's finding on a field of the object, or with `key` on its key."""
        found = rule.of(self.location(path, key=key), message, severity=severity, fix=fix)
        return replace(found, object=self.outer.ref, path=format_path(self.path_in_outer(path)) or None)

    @property
    def file(self) -> str:
        """The file that the object is written in."""
        return self.document.file

    def get(self, *path: str | int, default: Any = None) -> Any:
        """Return the value at a path of keys and indices, or the default where there is none."""
        return value_at(self.value, path, default)

    def text(self, *path: str | int) -> str:
        """Return the text at a path of keys and indices, empty where there is none."""
        return _text(self.get(*path))

    @overload
    def at(self, *pattern: str | int) -> Iterator[tuple[Path, Any]]: ...

    @overload
    def at(self, *pattern: str | int, of: type[T]) -> Iterator[tuple[Path, T]]: ...

    def at(self, *pattern: str | int, of: type[Any] | None = None) -> Iterator[tuple[Path, Any]]:
        """Yield path and value of whatever stands at a pattern, `*` for every item of a list or value of a map.

        With `of`, what is of another type is passed over, as is null always: the schema says what is malformed.
        """
        for path, value in matches(self.value, pattern):
            if of is None or type(value) is of:
                yield path, value

    def location(self, path: Path = (), *, key: bool = False) -> Location:
        """Return where a field of the object is written, or its nearest existing ancestor."""
        return self.document.location(self.base + path, key=key)


def expand(documents: Iterable[Document]) -> tuple[list[Manifest], list[Finding]]:
    """Return the objects of the documents, items of Lists one by one, and what is no object as findings.

    As kubectl does, whatever has `items` at its root is a list, an item of a typed list may leave apiVersion and
    kind to the list, and a list inside a list is refused (apimachinery 0.35 `unstructured/helpers.go`).
    """
    manifests: list[Manifest] = []
    findings: list[Finding] = []
    for document in documents:
        for manifest, problem in _objects(document):
            if problem is not None:
                findings.append(problem)
            elif manifest is not None:
                manifests.append(manifest)
    return manifests, findings


def _objects(document: Document) -> Iterator[tuple[Manifest | None, Finding | None]]:
    root = document.value
    if not isinstance(root, dict):
        message = f"document is {_article(root)}; write an object with apiVersion and kind"
        if isinstance(root, list) and any(isinstance(element, dict) and element.get("kind") for element in root):
            message = "document is a list of objects; put '---' between them, or make them items of a List"
        yield None, OBJECT.of(document.location(), message)
        return
    if "items" not in root and root.get("kind") == "List" and root.get("apiVersion") == "v1":
        near = next(
            (key for key in root if isinstance(key, str) and did_you_mean(key, ("items",)).startswith("did")), None
        )
        told = "write the objects as its items" if near is None else f"{near!r} must be 'items'"
        message = f"a List without items; {told}"
        yield None, Manifest(document, root).finding(ITEMS, ("kind",), message)
        return
    if "items" not in root or not _text(root.get("kind")):
        yield _object(Manifest(document, root))
        return
    items = [] if root["items"] is None else root["items"]
    if not isinstance(items, list):
        message = f"items is {_article(items)}; write a list of objects"
        yield None, Manifest(document, root).finding(ITEMS, ("items",), message)
        return
    kind, api_version = _text(root.get("kind")).removesuffix("List"), _text(root.get("apiVersion"))
    for index, item in enumerate(items):
        base: Path = ("items", index)
        if not isinstance(item, dict):
            message = f"item {index} is {_article(item)}; write an object with apiVersion and kind"
            yield None, Manifest(document, root).finding(OBJECT, base, message)
            continue
        typed = item.get("kind") or item.get("apiVersion")
        value = item if typed else {**item, "apiVersion": api_version, "kind": kind}
        yield _object(Manifest(document, value, base))


def _object(manifest: Manifest) -> tuple[Manifest | None, Finding | None]:
    if manifest.base and isinstance(manifest.value.get("items"), list) and manifest.kind.endswith("List"):
        message = f"a {manifest.kind} is inside a list; write its items out"
        return None, manifest.finding(NESTED, ("kind",), message)
    for name in ("apiVersion", "kind"):
        value = manifest.value.get(name)
        if isinstance(value, str) and value:
            continue
        near = next((key for key in manifest.value if key != name and key.lower() == name.lower()), None)
        if value is not None and value != "":
            message = f"{name} is {_article(value)}; write a string"
        elif near is not None:
            message = f"{name} is missing, but {near!r} exists; keys are case-sensitive"
        else:
            message = f"{name} is missing; every object needs apiVersion and kind"
        return None, manifest.finding(TYPED[name], (name,), message)
    return manifest, None


def _child(value: Any, part: str | int, default: Any = MISSING) -> Any:
    if isinstance(part, str):
        return value.get(part, default) if isinstance(value, dict) else default
    return value[part] if isinstance(value, list) and 0 <= part < len(value) else default


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def strings(value: Any) -> dict[str, str]:
    """Return the entries of a map whose values are strings; none of anything else."""
    return {key: text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}


def maps_in(value: Any) -> list[dict[str, Any]]:
    """Return the maps of a list; none of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def whole_number(value: Mapping[str, Any], key: str) -> int | None:
    """Return the whole number under a key, None where there is none; 2.0 is whole, as it is to the server."""
    found = value.get(key)
    if type(found) is int:
        return found
    return int(found) if type(found) is float and found.is_integer() else None


def _article(value: Any) -> str:
    names = {dict: "a map", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
