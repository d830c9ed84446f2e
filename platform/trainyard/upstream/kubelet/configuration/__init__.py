"""A configuration as a kubelet of its release reads it: decoded, with defaults, validated with upstream's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.upstream.kubelet.configuration import decode
from trainyard.upstream.kubelet.configuration.defaults import add_defaults
from trainyard.upstream.kubelet.configuration.fields import kubelet_of
from trainyard.upstream.kubelet.configuration.gates import Gates
from trainyard.upstream.kubelet.configuration.validation import problems
from trainyard.upstream.kubelet.releases import RELEASE

Stage = Literal["decode", "validate", "start"]


@dataclass(frozen=True)
class Invalid:
    """Why a kubelet does not start, in its own words: it cannot decode its configuration, refuses it, or its node."""

    stage: Stage
    message: str


@dataclass(frozen=True)
class Configuration:
    """A valid configuration with its defaults: durations in nanoseconds, quantities read."""

    fields: Mapping[str, Any]
    gates: Gates
    ignored: tuple[str, ...] = ()
    """Paths of fields that the kubelet does not know; it goes on with a line in its log."""

    @property
    def warning(self) -> str | None:
        """The line of the log about fields that are ignored."""
        said = ", ".join(f'unknown field "{path}"' for path in self.ignored)
        return f"strict decoding error: {said}" if said else None


def check(value: Mapping[str, Any], minor: str = RELEASE) -> Configuration | Invalid:
    """Return a configuration as the kubelet of a minor holds it, or why it does not start with it on any node.

    The value is the text's plain one (`documents.load`); API version and kind may be missing.
    """
    kind = kubelet_of(minor)
    if (said := decode.problem(value, kind, minor)) is not None:
        return Invalid("decode", f"failed to decode: {said}")
    decoded = decode.decode_configuration(value, kind)
    gates = Gates(decoded.get("featureGates") or {}, minor)
    if gates.problems:
        start = "panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: "
        return Invalid("decode", start + join_errors(gates.problems))
    fields = add_defaults(decoded, minor)
    if found := problems(fields, gates):
        return Invalid("validate", join_errors(found))
    return Configuration(fields, gates, tuple(decode.unknown_fields(value, kind)))


def join_errors(messages: tuple[str, ...] | list[str]) -> str:
    """Return several errors as apimachinery writes them: one as it is, more in brackets."""
    return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
