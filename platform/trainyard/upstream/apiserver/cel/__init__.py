"""CEL as Kubernetes speaks it: `Environment(variables, minor).compile(expression).evaluate(bindings)`."""

from typing import TYPE_CHECKING, Any

from trainyard.upstream.apiserver.cel.errors import CelError, CompileError, Issue, Unknown
from trainyard.upstream.apiserver.cel.program import Program
from trainyard.upstream.apiserver.cel.types import (
    BOOL,
    DYN,
    NULL,
    STRING,
    Field,
    ObjectType,
    Type,
    list_of,
    map_of,
    optional_of,
)

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.cel.environment import Environment

__all__ = [
    "BOOL",
    "DYN",
    "NULL",
    "STRING",
    "CelError",
    "CompileError",
    "Environment",
    "Field",
    "Issue",
    "ObjectType",
    "Program",
    "Type",
    "Unknown",
    "list_of",
    "map_of",
    "optional_of",
]


def __getattr__(name: str) -> Any:
    """Import what compiles when it is first asked for: programs that were kept are evaluated without it."""
    if name == "Environment":
        from trainyard.upstream.apiserver.cel.environment import Environment

        return Environment
    raise AttributeError(name)
