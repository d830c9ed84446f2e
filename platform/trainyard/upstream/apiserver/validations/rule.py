"""One rule that a schema states in CEL, compiled, and how it is kept as plain data.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/cel/compilation.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainyard.upstream.apiserver.cel import BOOL, STRING, CompileError, Program
from trainyard.upstream.apiserver.cel.errors import Issue, TooDeepError
from trainyard.upstream.apiserver.problems import Path

Kept = dict[str, Any]
"""A tree of rules as JSON has it, for one minor release: what is not compiled yet has no rules."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule, compiled; `error` says why it is not."""

    text: str
    message: str
    reason: str
    path: Path
    takes_optional: bool
    program: Program | None = None
    message_program: Program | None = None
    error: CompileError | None = None

    @property
    def reads_old(self) -> bool:
        """Whether it compares with the value before."""
        return self.program is not None and "oldSelf" in self.program.variables

    def kept(self) -> Kept:
        """Return the parts that `restored` needs, as JSON has them."""
        programs = {"program": self.program, "message_program": self.message_program}
        return {
            **{name: getattr(self, name) for name in ("text", "message", "reason", "takes_optional")},
            "path": [*self.path],
            **{name: program and program.kept() for name, program in programs.items()},
            "error": self.error and [isinstance(self.error, TooDeepError), str(self.error)],
        }

    @classmethod
    def restored(cls, kept: Kept) -> CompiledRule:
        """Return a rule that was kept; raises KeyError, TypeError or ValueError for anything else."""
        error, message = kept["error"], kept["message_program"]
        return cls(
            **{name: kept[name] for name in ("text", "message", "reason", "takes_optional")},
            path=tuple(kept["path"]),
            program=kept["program"] and Program.restored(kept["program"], BOOL),
            message_program=message and Program.restored(message, STRING),
            error=error and (TooDeepError if error[0] else CompileError)(kept["text"], [Issue(error[1])]),
        )
