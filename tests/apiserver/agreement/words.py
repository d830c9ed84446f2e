"""Values to put into fields: such as a schema asks for, and such as look wrong and may be right."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import re2

from trainyard.upstream.apiserver.catalog.schemas import TYPE, Schema

TIME = "2026-01-02T03:04:05Z"

WORDS = (
    "a", "a1", "demo", "web-1", "a.b", "a.b.c/d", "example.com/x", "http://a.example/x", "https://a.example/v1",
    "registry.example/a:1", "/a/b", "a/b", "10.0.0.1", "10.0.0.0/24", "fd00::1", "fd00::/64", "1", "10", "0.5",
    "100m",
    "1Gi", "5Gi", "10B", "1s", "10s", "1m0s", "1h", "24h", "daily", "50%", "a:b", "a=b", "A", "TRUE", "true", TIME,
    "2026-01-02", "10:30", "0000:00:00.0", "15b3:1015", "15b3", "101b", "1,0,0,0,0,0,0,0", "monday", "january",
    "a@b.example",
    "0123abcd", "aa:bb:cc:dd:ee:ff", "v1", "v1.2.3", "1.2.3", "aGVsbG8=", "{}", "*.json", "RGW01234567890123456",
    "a-b_c", "sha256:" + "0" * 64, "01234567-89ab-cdef-0123-456789abcdef", "100", "^a$", "yes-really-destroy-data",
)  # fmt: skip
"""Ordinary texts; the first that a pattern takes is used."""

ODD_TEXTS = (
    "", " ", "a ", " a", "A", "Abc", "a_b", "a.b", "a..b", "-a", "a-", "a/b", "a/b/c", "/a", "a/", "../a", "a*",
    "*", ".", "..",
    "a" * 63, "a" * 64, "a" * 253, "a" * 254, "a" * 300, "é", "日本", "a\nb", "a\tb", "a:b", "a=b", "0", "1", "01",
    "-1", "+1",
    "1.0", "1.5", "1e3", "1E3", "100m", "1k", "1K", "1Ki", "1ki", "1 Gi", "1Gi ", "0x10", "1_000", "NaN",
    "Infinity", "5%",
    "101%", "-5%", "5.5%", "%", "80", "65536", "70000", "2147483648", "true", "null", "none", "None", "Always",
    "always",
    "10.0.0.1", "010.0.0.1", "256.0.0.1", "::1", "fd00::/64", "10.0.0.1/24", "10.0.0.0/33", "http://",
    "http://a b", "a.example.com",
    "kubernetes.io/x", "example.com/gpu", "nvidia.com/gpu", "requests.cpu", "UTC", "Europe/Berlin", "* * * * *",
    "@daily", "1h", "1h30m",
    "1d", "1.5h", "-1s", "2026-01-02T03:04:05Z", "2026-01-02", "2026-13-02T03:04:05Z", "$(A)", "${a}", "aGVsbG8=",
    "a===", "{}", "[]",
)  # fmt: skip

ODD_NUMBERS = (

    0, 1, -1, 2, 3, 10, 63, 64, 100, 101, 255, 256, 511, 512, 1000, 1024, 65535, 65536, 100000, 100001,
    2**31 - 1, 2**31,
    -(2**31) - 1, 2**32 + 80, 2**53 + 1, 2**63 - 1, 1.0, 1.5, 0.5, 1000.0,
)  # fmt: skip

ODD_QUANTITIES = (
    "0", "1", "-1", "1.5", "1m", "1u", "1n", "0.5m", "1k", "1K", "1Ki", "1ki", "1kI", "1Gi", "1G", "1e3", "1E3",
    "1E", "1e", "1e-3",
    "1.", ".5", "+1", " 1", "1 ", "", "1 Gi", "1GB", "0x1", "1_0", "NaN", "99999999999999999999", "1e100", "-0",
    "1Ei", "1Zi", 1, 1.5,
    0, -1, 2, True, "0.1", "100m", "2", "1500m",
)  # fmt: skip

ODD_ANYTHING: tuple[Any, ...] = (
    None,
    {},
    [],
    "",
    0,
    1,
    1.5,
    True,
    False,
    "a",
    [1],
    ["a"],
    {"a": "b"},
    [{}],
    [None],
    {"": ""},
)

TYPED = {
    "resource.Quantity": "1",
    "meta.v1.Time": TIME,
    "meta.v1.MicroTime": "2026-01-02T03:04:05.000006Z",
    "intstr.IntOrString": 1,
    "apiextensions.v1.JSON": {"a": 1},
    "apiextensions.v1.JSONSchemaPropsOrBool": True,
    "apiextensions.v1.JSONSchemaPropsOrArray": {"type": "string"},
    "apiextensions.v1.JSONSchemaPropsOrStringArray": ["a"],
}

FORMATS = {"date-time": TIME, "byte": "aGVsbG8=", "uri": "https://a.example/x", "duration": "1h", "date": "2026-01-02"}

NAMED = {
    "image": "registry.example/a:1", "mountPath": "/data", "path": "/a", "protocol": "TCP", "operator": "Exists",
    "effect": "NoSchedule",
    "topologyKey": "kubernetes.io/hostname", "restartPolicy": "Never", "schedule": "0 3 * * *", "ip": "10.0.0.9",
    "port": 80,
    "containerPort": 80, "hostPath": "/data", "apiGroup": "example.com", "kind": "ConfigMap",
    "verbs": ["get"], "apiVersion": "v1",
    "name": "a1", "namespace": "default", "expression": "true", "url": "https://a.example/x",
    "accessModes": ["ReadWriteOnce"],
    "provisioner": "example.com/disk", "driver": "example.com", "type": "",
    "resources": {"requests": {"storage": "1Gi"}},
}  # fmt: skip
"""What a field of this name mostly holds in core kinds, whose schemas say little."""


@lru_cache(maxsize=4096)
def matching(pattern: str, least: int, most: int | None) -> tuple[str, ...]:
    """Return the ordinary texts that a pattern and the lengths take."""
    try:
        compiled = re2.compile(pattern)
    except re2.error:
        return ()
    sized = (word for word in WORDS if len(word) >= least and (most is None or len(word) <= most))
    return tuple(item for item in sized if compiled.search(item))


def text_for(node: Schema, name: str, rng: Random) -> str:
    """Return a text that the schema of a field most likely takes."""
    least, most = int(node.get("minLength", 0)), node.get("maxLength")
    if choices := node.get("enum"):
        return str(rng.choice(choices))
    if pattern := node.get("pattern"):
        found = matching(pattern, least, most)
        return rng.choice(found[:4]) if found else "a"
    if form := FORMATS.get(str(node.get("format"))):
        return form
    hint = NAMED.get(name)
    found_text = hint if isinstance(hint, str) and (hint or not least) else "a1"
    return (found_text + "a" * least)[: max(least, len(found_text))][:most]


def number_for(node: Schema, name: str, rng: Random) -> int:
    """Return an integer that the schema of a field most likely takes."""
    if choices := node.get("enum"):
        return int(rng.choice(choices))
    hint = NAMED.get(name, 1)
    value = hint if isinstance(hint, int) else 1
    value = max(value, int(node.get("minimum", value)))
    return min(value, int(node.get("maximum", value)))


def typed_value(node: Schema) -> Any:
    """Return a value of a Go type that has a spelling of its own, or None."""
    if node.get("x-kubernetes-int-or-string"):
        return 1
    return TYPED.get(str(node.get(TYPE)))
