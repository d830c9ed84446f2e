"""What a change does to each object: taken in place, only to be replaced, refused; and what is added or removed.

An update is refused for what may not change, or because the new object is wrong by itself. Where only the change is
wrong, deleting the old object and creating the new one would pass: that is a replacement, which `kubectl replace
--force` and Argo CD's options Force and Replace make. Some objects must not be deleted for that: then it is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.base.documents.differences import differences
from trainyard.base.findings import Finding, Path, format_path
from trainyard.base.labels import JOB, RUN
from trainyard.base.manifests import Manifest
from trainyard.judge.checks import guards
from trainyard.judge.checks.result import Change, ChangeWord
from trainyard.upstream.apiserver import Judge, Judgement, Verdict
from trainyard.upstream.apiserver.core import persistentvolumeclaim
from trainyard.upstream.apiserver.core.storage import IMMUTABLE

SHOWN = 4
"""Fields of an object that are named."""

ANEW = "delete the old object and create this one, or use another name"
MOVE = "restore the field, or create another object and move to it"

Identity = tuple[str, str, str, str]


def at_difference(finding: Finding, manifest: Manifest, old: Manifest) -> Finding:
    """Return a finding on the parameters of a class at the one of them that the update changes."""
    if finding.rule != IMMUTABLE.id:
        return finding
    field = finding.path or ""
    path: Path = (field,)
    new, before = manifest.value.get(field), old.value.get(field)
    while isinstance(new, Mapping) and isinstance(before, Mapping):
        changed = [name for name in {**new, **before} if new.get(name) != before.get(name)]
        if len(changed) != 1 or changed[0] not in new:
            break
        path, new, before = (*path, changed[0]), new[changed[0]], before.get(changed[0])
    if len(path) == 1:
        return finding
    return replace(finding, path=format_path(path), location=manifest.location(path))


def identity(manifest: Manifest) -> Identity | None:
    """Return the fields of an object that never change: group, kind, namespace and name; None without a name."""
    if not manifest.name:
        return None
    return manifest.group, manifest.kind, manifest.namespace or "default", manifest.name


class Updates:
    """Judges objects over those that were before, and says what becomes of each.

    With `both` an object has to pass as a new one too, as on a cluster that is built anew; claims are then left to
    `tree.claims`, which speaks of volumes in the words of specs.
    """

    def __init__(
        self, judge: Judge, before: Iterable[Manifest], now: Collection[Manifest], *, both: bool = False
    ) -> None:
        self._judge = judge
        self._both = both
        self.before = {key: manifest for manifest in before if (key := identity(manifest)) is not None}
        self.now = {key for manifest in now if (key := identity(manifest)) is not None}
        self.anew: dict[int, Judgement] = {}
        """What would be said of a refused update's object if it were created, by the identity of its manifest."""
        self.runs = {key: manifest for manifest in self.gone() if (key := run_of(manifest)) is not None}
        """What is gone of runs, by part and job."""
        self.begun = {run_of(manifest) for manifest in now if self.old(manifest) is None}

    def judge(self, manifest: Manifest) -> Judgement:
        """Return the verdict on an object; what is wrong with the change alone is of the layer `update`."""
        old = self.old(manifest)
        if old is None or not self.comparable(manifest, old) or (self._both and is_claim(manifest)):
            return self._judge.judge(manifest)
        found = self._judge.judge(manifest, old=as_stored(old))
        if found.verdict != "invalid":
            return self._judge.judge(manifest) if self._both else found
        anew = self.anew[id(manifest)] = self._judge.judge(manifest)
        if anew.verdict == "valid" and guards.is_forced(old, manifest) and guards.lost_data(old) is None:
            return anew  # Argo CD makes no update of it
        known = {key(finding) for finding in anew.findings}
        fix = None if anew.verdict != "valid" else MOVE if guards.reason(old, manifest) else ANEW
        findings = (
            finding
            if key(finding) in known
            else replace(at_difference(finding, manifest, old), layer="update", fix=finding.fix or fix)
            for finding in found.findings
        )
        said = {key(finding) for finding in found.findings}
        more = (finding for finding in anew.findings if self._both and key(finding) not in said)
        return replace(found, findings=(*findings, *more))

    def old(self, manifest: Manifest) -> Manifest | None:
        """Return the object before; one that the server is to name has none."""
        found = identity(manifest)
        return None if found is None else self.before.get(found)

    def comparable(self, manifest: Manifest, old: Manifest) -> bool:
        """Whether the old object has the same fields in the version of the new one: else a server converts it first."""
        if old.api_version == manifest.api_version:
            return True
        moved = Manifest(old.document, {**old.value, "apiVersion": manifest.api_version}, old.base)
        return not any(finding.is_error and finding.layer == "schema" for finding in self._judge.judge(moved).findings)

    def change(self, judgement: Judgement, verdict: Verdict) -> Change | None:
        """Return the change of an object, given the verdict of all layers; None if there is nothing to report."""
        manifest = judgement.manifest
        old = self.old(manifest)
        if old is None:
            return self.added(manifest)
        fields = list(phrases(old, manifest))
        word, why = self.word(judgement, verdict, old, changed=bool(fields))
        if word is None:
            return None
        about = (manifest.file, manifest.document.index, manifest.ref)
        return Change(word, *about, tuple(fields[:SHOWN]), max(0, len(fields) - SHOWN), why)

    def word(
        self, judgement: Judgement, verdict: Verdict, old: Manifest, *, changed: bool
    ) -> tuple[ChangeWord | None, str | None]:
        """Return the word for an update, and why it is not simply taken."""
        manifest = judgement.manifest
        if verdict == "unknown":
            return None, None
        if verdict == "valid":
            if changed and guards.is_forced(old, manifest):
                return "replace", "its sync options let Argo CD delete and recreate it"
            same = self.comparable(manifest, old)
            return "in place", None if same else "apiVersion changes, so immutable fields were not compared"
        if judgement.verdict == "valid":
            return "refused", "it cannot be decoded" if manifest.document.refused else "a policy refuses it"
        anew = self.anew.get(id(manifest))
        if anew is None or anew.verdict != "valid":
            return "refused", "the API server would refuse it as a new object too"
        fixed = sorted({finding.path or "it" for finding in judgement.findings if finding.is_error})
        said = f"{' and '.join(fixed[:SHOWN])} cannot change"
        if kept := guards.reason(old, manifest):
            return "refused", f"{said}, and {kept}"
        return "replace", f"{said}; {ANEW}"

    def added(self, manifest: Manifest) -> Change:
        """Return the change of a new object: added, or the run that replaces another of its job."""
        about = (manifest.file, manifest.document.index, manifest.ref)
        found = run_of(manifest)
        follows = self.runs.get(found) if found is not None else None
        if follows is None:
            return Change("added", *about)
        return Change("replace", *about, why=f"it replaces {follows.name}", before=follows.name)

    def gone(self) -> Iterator[Manifest]:
        """Yield the objects that are there no more."""
        return (manifest for key, manifest in self.before.items() if key not in self.now)

    def removed(self) -> Iterator[Change]:
        """Yield a change for every removed object, with the data that it takes along; replaced runs are not removed."""
        for manifest in self.gone():
            if (found := run_of(manifest)) is not None and found in self.begun:
                continue
            what = guards.lost_data(manifest)
            why = None if what is None else f"deleting it loses {what}"
            yield Change("removed", manifest.file, manifest.document.index, manifest.ref, why=why)


def as_stored(old: Manifest) -> dict[str, Any]:
    """Return the object that a file stands for once a cluster has it: a claim is bound by then."""
    return dict(persistentvolumeclaim.as_bound(old.value)) if is_claim(old) else old.value


def is_claim(manifest: Manifest) -> bool:
    """Say whether an object is a PersistentVolumeClaim."""
    return (manifest.group, manifest.kind) == ("", "PersistentVolumeClaim")


def phrases(old: Manifest, manifest: Manifest) -> Iterator[str]:
    """Yield the differences between two objects as they are written, without the data of a Secret."""
    yield from differences(old.value, manifest.value)


def key(finding: Finding) -> tuple[str, str | None, str]:
    """Return the key by which two findings on one object are the same."""
    return finding.rule, finding.path, finding.message


def run_of(manifest: Manifest) -> tuple[Any, ...] | None:
    """Return which part of which job's run an object is, whatever the run's name."""
    labels: Mapping[str, str] = manifest.labels
    job, run = labels.get(JOB), labels.get(RUN)
    if job is None or run is None:
        return None
    return *manifest.gvk, manifest.namespace, job, manifest.name.removeprefix(run)
