"""What all specs share: closed, frozen models in camelCase, and the types of their fields."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import ip_network
from itertools import pairwise
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainyard.base import images
from trainyard.base.limits import WAIVERS
from trainyard.base.quantities import Quantity
from trainyard.specs.models.bounds import bound

JOB_NAME = re.compile(r"[a-z][-a-z0-9]*")
"""Job names; at most 30 characters, so that `<job>-<digest>` and pod names of every kind stay below 63."""


class Spec(BaseModel):
    """A frozen model that refuses unknown fields and is written in camelCase."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Bound every list and map."""
        return bound(handler(source))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Give editors what stands below each field; pydantic would read the sources at every start of a command."""
        found = handler(schema)
        fields = handler.resolve_ref_schema(found)["properties"]
        for name, text in docstrings(cls):
            fields[cls.model_fields[name].alias]["description"] = text
        return found


def docstrings(model: type[Spec]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a model's own that have a text below them, each with its text."""
    (body,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(body, ast.ClassDef)
    for field, below in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            if field.target.id not in model.model_fields:
                continue  # what is worked out, and nobody writes
            yield field.target.id, inspect.cleandoc(ast.literal_eval(below.value))


def validation_error(rule: str, message: str, part: str = "") -> PydanticCustomError:
    """Return the error that a validator raises; the message goes on from the field's name, as in `should be …`.

    `part` is the part of the text that is at fault, where the message says what is wrong with it.
    """
    return PydanticCustomError(rule, "{message}", {"message": message, "part": part})


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a text: a pattern for the whole of it and, in words, what it should be."""

    pattern: str
    should: str
    max_length: int | None = None
    explain: Callable[[str], tuple[str, str]] | None = None
    """Says what is wrong with a text of another form, and with which part of it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check the form after the type."""
        fullmatch, longest = re.compile(self.pattern).fullmatch, self.max_length

        def check(value: str) -> str:
            if fullmatch(value) is None:
                raise validation_error("form", *(self.explain(value) if self.explain else (f"must be {self.should}",)))
            if longest is not None and len(value) > longest:
                raise validation_error("length", f"has {len(value)} characters; at most {longest} are allowed")
            return value

        return core_schema.no_info_after_validator_function(check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Give editors the pattern and the greatest length."""
        limit = {} if self.max_length is None else {"maxLength": self.max_length}
        return {**handler(schema), "pattern": f"^(?:{self.pattern})$", **limit}


def quantity(value: Any) -> Any:
    """Return the canonical text of a Kubernetes quantity, so that `1024Mi` and `1Gi` are one value."""
    amount = parse_quantity(value, "a quantity such as 16Gi or 500m")
    if amount.amount < 0:
        raise validation_error("quantity", "must be 0 or more")
    if amount.amount > MOST_OF_A_QUANTITY:
        raise validation_error("range", "must be 8Ei at most, the largest amount in Kubernetes")
    return amount.canonical()


MOST_OF_A_QUANTITY = 2**63 - 1
"""What a quantity is cut to (kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go)."""


def parse_quantity(value: Any, should: str) -> Quantity:
    """Return a quantity as the API server reads it; a power that it would cut to 32 bits makes another amount."""
    try:
        amount = Quantity.parse(value)
    except ValueError:
        raise validation_error("quantity", f"must be {should}") from None
    power = POWER.search(value) if isinstance(value, str) else None
    if power is not None and abs(int(power[1])) > MOST:
        raise validation_error("quantity", f"must be {should}")
    return amount


POWER = re.compile(r"[eE]([+-]?[0-9]+)\s*$", re.ASCII)
"""The power of ten of a quantity."""


def byte_count(value: Any) -> Any:
    """Return the canonical text of an amount of bytes; one of a few bytes lacks its unit."""
    amount = bytes_of(value)
    text = str(value).strip()
    if 0 < amount.amount < LEAST_BYTES and not (amount.amount >= 1 and text.endswith(("k", "Ki"))):
        meant = f"{text[:-1]}Mi" if text[-1:] == "m" else f"{text}Gi" if text.isdecimal() else "16Gi"
        raise validation_error("unit", f"that is {in_words(amount)}; write a unit such as {meant}")
    return quantity(value)


def room(value: Any) -> Any:
    """Return the canonical text of memory or disk, where something has to fit."""
    found = byte_count(value)
    amount = bytes_of(value)
    if 0 < amount.amount < LEAST_BYTES:
        raise validation_error("unit", f"that is {in_words(amount)}, too little for anything; write more, such as 16Gi")
    return found


def speed(value: Any) -> Any:
    """Return the canonical text of bytes per second; bits, 'B' and '/s' are refused with what to write."""
    found = PER_SECOND.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        parse_quantity(value, "bytes per second such as 10Gi")
        return room(value)
    number, unit = found["number"], found["unit"] or ""
    if found["bits"]:
        meant = Quantity(Decimal(int(Quantity.parse(f"{number}{unit}").amount / 8)))
        raise validation_error("unit", f"must be bytes per second, not bits; write {meant.canonical()}")
    raise validation_error("unit", f"must be bytes per second without 'B' or '/s'; write {number}{unit or 'G'}")


PER_SECOND = re.compile(
    r"\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[kMGTP]i?)?(?:(?P<bits>b|[Bb]its?)(?:ps|/s)?|(?:B|[Bb]ytes?)?(?:ps|/s)|B|[Bb]ytes?)\s*"
)
"""Speeds as networks and disks are sold: `10Gbps`, `400Gb/s`, `2GB/s`, `1Gi/s`."""


def bytes_of(value: Any) -> Quantity:
    """Return a quantity of bytes; its hint names no thousandths, which bytes have none of."""
    return parse_quantity(value, "an amount of bytes such as 16Gi")


def in_words(amount: Quantity) -> str:
    """Write a few bytes for a sentence."""
    return f"{amount.value()} bytes" if amount.amount > 1 else "less than a byte" if amount.amount < 1 else "one byte"


LEAST_BYTES = 10**6
"""Less is no memory, disk or checkpoint of anything that trains, but a number whose unit is missing."""


def number(value: Any) -> float:
    """Return a number, whole or not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise validation_error("type", "must be a number")
    return float(value)


def variable_value(value: Any) -> Any:
    """Return an environment variable's text; whole numbers may be written bare, everything else is quoted."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise validation_error("type", "must be text; write it in quotes")
    if "\0" in value:
        raise validation_error("form", "must not contain a NUL character; remove it")
    return value


def network(value: str) -> str:
    """Check a range of addresses: it has its length, and the host bits of its first address are zero."""
    if "/" not in value:
        raise validation_error("form", f"must be a range of addresses; for a single one write {value[:40]}/32")
    try:
        ip_network(value)
    except ValueError:
        raise validation_error("form", "must be a range of addresses such as 10.0.0.0/16") from None
    return value


def ports(value: Any) -> str:
    """Return a port or a range of ports as text: `9000`, `30000-30100`, `4567/UDP`; TCP goes without saying."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    found = PORTS.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise validation_error("form", 'must be a port such as 9000, "30000-30100" or "4567/UDP"')
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if not 1 <= first <= last <= HIGHEST_PORT:
        raise validation_error("form", f"must be ports from 1 to {HIGHEST_PORT}, the lower one first")
    return str(text).removesuffix("/TCP")


def cpu_list(value: str) -> str:
    """Check a list of CPUs: numbers and rising ranges, of no more CPUs than a machine can have."""
    if CPUS.fullmatch(value) is None:
        raise validation_error("form", "must be a list of CPUs such as 0-3,64-67")
    for part in value.split(","):
        first, last = (int(number) for number in (part.split("-") * 2)[:2])
        if not first <= last < MOST_CPUS:
            raise validation_error("form", f"has {part!r}; write CPUs from 0 to {MOST_CPUS - 1}, the lower one first")
    return value


CPUS = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")

MOST_CPUS = 8192
"""CPUs of one machine (Linux arch/x86/Kconfig NR_CPUS_RANGE_END); arm64 has fewer."""

MOST_NUMA = 1024
"""NUMA nodes of one machine (Linux arch/x86/Kconfig NODES_SHIFT); as many devices of a kind, which nobody builds."""

PORTS = re.compile(r"(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?(?:/(?P<protocol>TCP|UDP|SCTP))?")
"""The protocols of a NetworkPolicy (kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go)."""

HIGHEST_PORT = 65535


def named_once(values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list that names something twice."""
    twice = next((value for index, value in enumerate(values) if value in values[:index]), None)
    if twice is not None:
        raise validation_error("duplicate", f"lists {twice!r} twice; remove one")
    return values


def reason(value: str) -> str:
    """Refuse a reason of blanks."""
    if not value.strip():
        raise validation_error("empty", "is blank; write a reason")
    return value


def safe_path(path: str) -> str:
    """Refuse a path that leaves its folder."""
    if path.startswith("/") or "\\" in path or any(part in {"", ".", ".."} for part in path.split("/")):
        raise validation_error("path", "must be a relative path without '.' or '..'")
    return path


LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"

Text = Annotated[StrictStr, Field(min_length=1)]
MOST = 2**31 - 1
"""Largest number of the API's fields of 32 bits, which most counts end in."""

Reason = Annotated[Text, AfterValidator(reason)]
Count = Annotated[StrictInt, Field(ge=1, le=MOST)]
Amount = Annotated[StrictInt, Field(ge=0, le=MOST)]
Few = Annotated[StrictInt, Field(ge=1, le=MOST_NUMA)]
"""How many devices of a kind a machine has."""
CpuList = Annotated[
    StrictStr, AfterValidator(cpu_list), WithJsonSchema({"type": "string", "pattern": f"^(?:{CPUS.pattern})$"})
]
"""CPUs as Linux writes them, such as `0-55,112-167`."""
Rate = Annotated[
    float,
    BeforeValidator(number),
    Field(ge=0, le=MOST),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": MOST}),
]
Size = Annotated[
    str,
    BeforeValidator(quantity),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": r"^[0-9.]+([eE][0-9]+|[KMGTPE]i?|k|m)?$"}, {"type": "number"}]}
    ),
]
"""A Kubernetes quantity in canonical form: bytes for memory and storage, cores for CPUs."""

_BYTES = WithJsonSchema(
    {"anyOf": [{"type": "string", "pattern": r"^[0-9.]+([eE][0-9]+|[KMGTPE]i?|k|m)?$"}, {"type": "number"}]}
)
Bytes = Annotated[str, BeforeValidator(byte_count), _BYTES]
"""Files in bytes."""

Room = Annotated[str, BeforeValidator(room), _BYTES]
"""Memory or disk in bytes, at least a megabyte or none at all."""

Speed = Annotated[str, BeforeValidator(speed), _BYTES]
"""Bytes per second."""

Name = Annotated[StrictStr, Form(LABEL, "lower-case letters, digits and inner '-'", 63)]
"""A DNS label."""

RuleId = Annotated[StrictStr, Form(rf"{LABEL}(?:/{LABEL})?", "the id of a rule, as in brackets after a finding")]

Waive = Annotated[dict[RuleId, Reason], Field(max_length=WAIVERS)]
"""`rule: reason`: what is accepted of what rules find in the file, and in objects that are rendered from it."""

SubdomainName = Annotated[
    StrictStr, Form(rf"{LABEL}(?:\.{LABEL})*", "lower-case letters, digits and inner '-' or '.'", 253)
]

Address = Annotated[
    StrictStr, Form(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/-]*)?", "an address such as https://a.b")
]
"""An address that browsers open, without user, query and fragment."""

VariableName = Annotated[
    StrictStr, Form(r"[A-Za-z_][A-Za-z0-9_]*", "letters, digits and '_', not starting with a digit")
]
VariableValue = Annotated[str, BeforeValidator(variable_value), WithJsonSchema({"type": ["string", "integer"]})]
MountPath = Annotated[StrictStr, Form(r"/[^:]*", "a path that starts with '/' and has no ':'")]
Version = Annotated[
    StrictStr, Form(r"v?[0-9]+(?:\.[0-9]+){0,3}(?:[-+.][0-9A-Za-z.-]+)?", "a release such as '0.19.2', in quotes")
]
"""A release; versions in YAML are strings, a leading `v` is optional."""
RelativePath = Annotated[Text, AfterValidator(safe_path)]
Cidr = Annotated[StrictStr, AfterValidator(network)]
PortRange = Annotated[str, BeforeValidator(ports), WithJsonSchema({"type": ["string", "integer"]})]
"""A port or a range of them, with the protocol where that is not TCP."""
LabelKey = Annotated[
    StrictStr,
    Form(
        r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?",
        "the key of a label, such as nvidia.com/gpu",
        317,
    ),
]
LabelValue = Annotated[
    StrictStr,
    Form(r"(?:[A-Za-z0-9](?:[-_.A-Za-z0-9]*[A-Za-z0-9])?)?", "letters, digits and inner '-', '_' or '.'", 63),
]
Labels = dict[LabelKey, LabelValue]


def short_name(image: str) -> str:
    """Refuse an image whose name is longer than registries take."""
    if not images.is_short(image):
        raise validation_error(
            "length", f"has a name of more than {images.LONGEST_NAME} characters; push it to a shorter one"
        )
    return image


Digest = Annotated[StrictStr, Form(images.DIGEST, "sha256: and 64 hex digits")]

IMAGE = f"(?:{images.DOMAIN}|{images.COMPONENT})/{images.PATH}(?::{images.TAG})?@{images.DIGEST}"
Image = Annotated[
    StrictStr,
    Form(IMAGE, "registry/path@sha256: and 64 hex digits", explain=images.explain),
    AfterValidator(short_name),
]
