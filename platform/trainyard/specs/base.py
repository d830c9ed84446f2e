"""What all specs share: closed, frozen models in camelCase, and the types of their fields."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, WithJsonSchema
from pydantic.alias_generators import to_camel

from trainyard.quantities import Quantity

JOB_NAME = re.compile(r"[a-z][-a-z0-9]*")
"""Job names; at most 30 characters, so that `<job>-<digest>` and pod names of every kind stay below 63."""


class Spec(BaseModel):
    """A frozen model that refuses unknown fields and is written in camelCase."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )


def quantity(value: Any) -> Any:
    """Return the canonical text of a Kubernetes quantity, so that `1024Mi` and `1Gi` are one value.

    Raises ValueError where the text is no quantity; pydantic turns that into a finding at the field.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("should be a quantity such as 16Gi or 500m")
    return Quantity.parse(str(value)).canonical()


def variable_value(value: Any) -> Any:
    """Return an environment variable's text; whole numbers may be written bare, everything else is quoted."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError("should be text; write it in quotes")  # noqa: TRY004 - pydantic reports ValueError
    return value


Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=1)]
Size = Annotated[
    str,
    BeforeValidator(quantity),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": r"^[0-9.]+([eE][0-9]+|[KMGTPE]i?|k|m)?$"}, {"type": "number"}]}),
]
"""A Kubernetes quantity in canonical form: bytes for memory and storage, cores for CPUs."""

Name = Annotated[StrictStr, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
"""A DNS label."""

SubdomainName = Annotated[
    StrictStr, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", max_length=253)
]

VariableName = Annotated[StrictStr, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
VariableValue = Annotated[str, BeforeValidator(variable_value), WithJsonSchema({"type": ["string", "integer"]})]
MountPath = Annotated[StrictStr, Field(pattern=r"^/[^:]*$")]
Version = Annotated[StrictStr, Field(pattern=r"^v?[0-9]+(\.[0-9]+){0,3}([-+.][0-9A-Za-z.-]+)?$")]
"""A release; versions in YAML are strings, a leading `v` is optional."""
Labels = dict[StrictStr, StrictStr]
