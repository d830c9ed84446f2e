"""CEL as Kubernetes speaks it: `Environment(variables, minor).compile(expression).evaluate(bindings)`."""

from trainyard.api.cel.environment import Environment, Program
from trainyard.api.cel.errors import CelError, CompileError, Issue, Unknown
from trainyard.api.cel.types import BOOL, DYN, NULL, STRING, Field, ObjectType, Type, list_of, map_of, optional_of

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
