"""Whatever bytes come, `validate` answers: never a traceback, never more than a second on one document."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apiserver.agreement import cases
from apiserver.agreement.mutate import mutate
from clock import within
from conftest import ROOT
from example_counts import tries
from trainyard.faces.report import render
from trainyard.judge.checks.validate import Result, strangers
from trainyard.upstream.apiserver import Catalog, catalog

SECOND = 1.0
PIECES = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\t", b"\r", b": ", b"- ", b"? ", b"&a ", b"*a", b"<<: *a",
    b"!!binary ", b"!x ", b"---\n",
    b"...\n", b"%YAML 1.2\n", b"'", b'"', b"{", b"}", b"[", b"]", b"|2-\n", b">+\n", b"#", b"null", b"1e999",
    b".inf", b"-9223372036854775809",
    b"\\ud800", b"\xed\xa0\x80", b"{{ .Values.x }}", b"\xe2\x80\xa8",
    b"[" * 2000, b"{a: " * 500, b"a" * 5000, b"self.all(x, x.all(y, y))",
)  # fmt: skip


@pytest.fixture(scope="module")
def files():
    """Real files of every sort: rich objects, CRDs, specs, lists, and what is no Kubernetes object at all."""
    found = [cases.RICH.read_bytes(), b"", b"a: b\n", (ROOT / "README.md").read_bytes()]
    for folder in ("generated", "jobs", "platform", "policies", "tests/policies"):
        found += [path.read_bytes() for path in sorted((ROOT / folder).rglob("*.yaml"))[::7]]
    lines = cases.OBJECTS.read_text(encoding="utf-8").splitlines()
    return [item[:6000] for item in found] + [line.encode() for line in lines[::3]]


@pytest.fixture(autouse=True, scope="module")
def known():
    """The kinds, opened once: what a run costs before its first document is measured by the benchmarks."""
    found = catalog.load(ROOT / "schemas", kubernetes="1.35")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "load", lambda *_, **__: found)
        yield found[0]


def answered(data: bytes) -> Result:
    """Judge a file and report what is found."""
    result = strangers([("fuzz.yaml", data)], ROOT / "schemas", kubernetes="1.35")
    render(result, "json")
    return result


def judge(data: bytes) -> None:
    """Run the whole path on one file, report included; a second must do for one document."""
    result = within(SECOND, lambda: answered(data), data[:300], each=lambda found: len(found.objects))
    assert result.objects or result.findings or result.notes


def damage(data: bytes, rng: Random) -> bytes:
    """Return bytes with a few flipped, cut out, repeated, or replaced by what parsers stumble over."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(changed) + 1)
        upto = min(len(changed), at + rng.choice([1, 1, 4, 40]))
        how = rng.randrange(5)
        if how == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del changed[at:upto]
        elif how == 2:
            changed[at:at] = changed[at:upto]
        elif how == 3:
            changed[at:at] = rng.choice(PIECES)
        else:
            lines = bytes(changed).split(b"\n")
            rng.shuffle(lines[: rng.randrange(len(lines)) + 1])
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            changed = bytearray(b"\n".join(lines))
    return bytes(changed)


def run(known: Catalog, files: list[bytes], count: int, seed: str) -> None:
    """Judge damaged real files, and mutated objects with values of any type at any place."""
    chosen = [finding for found in cases.bases(known).values() for finding in found]
    for _, value in chosen:
        strangers([("warm.yaml", json.dumps(value).encode())], ROOT / "schemas", kubernetes="1.35")
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        if number % 2:
            judge(damage(rng.choice(files), rng))
        else:
            kind, value = rng.choice(chosen)
            judge(json.dumps(mutate(value, kind.schema, rng, count=rng.randrange(1, 12))[0]).encode())


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_damaged_files_are_answered(known, files, request):
    """Thousands of damaged files and objects (`--fuzz N`), none with a traceback or a second's thought."""
    run(known, files, request.config.getoption("--fuzz"), "fuzz")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars, lambda item: st.lists(item, max_size=4) | st.dictionaries(st.text(max_size=8), item, max_size=4)
)
HEADS = st.sampled_from(
    [
        ("v1", "Pod"),
        ("batch/v1", "Job"),
        ("jobset.x-k8s.io/v1alpha2", "JobSet"),
        ("v1", "List"),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    ]
)
FIELDS = st.sampled_from(["metadata", "spec", "data", "items", "status", "rules", "webhooks", "template"])
deep = settings(max_examples=tries(300), deadline=None, suppress_health_check=list(HealthCheck))


@deep
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_answered(data: bytes):
    """Bytes and texts of any kind."""
    judge(data)


@pytest.mark.slow
@deep
@given(HEADS, st.dictionaries(FIELDS, values, max_size=4), st.sampled_from([json.dumps, yaml.safe_dump]))
def test_any_value_is_answered(head: tuple[str, str], fields: dict[str, object], spell: Callable[..., str]):
    """Objects of known kinds that hold anything at all."""
    judge(spell({"apiVersion": head[0], "kind": head[1], **fields}).encode("utf-8", "surrogatepass"))
