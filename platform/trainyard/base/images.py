"""Image references, as the container runtimes of nodes read them: `domain/path:tag@digest`.

One grammar for specs, tenants' lines, policies and editors; as a text it is a regular expression of RE2, which CEL has.
The runtime refuses what does not follow it, and the pod stays in InvalidImageName.
Source: distribution/reference v0.6.0 regexp.go, reference.go and normalize.go (containerd reads by ParseDockerRef);
opencontainers/go-digest v1.0.0 algorithm.go: digits of a digest are lower case, and as many as the algorithm has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
DOMAIN = rf"(?:{LABEL}(?:[.]{LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
PATH = f"{COMPONENT}(?:/{COMPONENT})*"
TAG = "[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}"
DIGEST = "sha256:[0-9a-f]{64}"

NAME = f"(?:{DOMAIN}/)?{PATH}"
"""Registry and repository; a name without a domain is one of docker.io."""

PINNED = f"{NAME}(?::{TAG})?@{DIGEST}"
"""A name with a digest. A runtime takes the digest and ignores a tag before it."""

LONGEST_NAME = 255
"""Characters of registry and repository together (OCI distribution-spec v1.1.1, pulling manifests)."""

LONGEST = LONGEST_NAME + len(":") + 128 + len("@sha256:") + 64

_NAME, _PINNED, _REFERENCE = (re.compile(text) for text in (NAME, PINNED, f"{NAME}(?::{TAG})?(?:@(?P<digest>[^@]*))?"))


def is_pinned(text: Any) -> bool:
    """Whether a text names an image by digest, in a form that runtimes take."""
    return isinstance(text, str) and len(text) <= LONGEST and _PINNED.fullmatch(text) is not None and is_short(text)


def is_short(text: str) -> bool:
    """Whether registry and repository are as short as registries take."""
    name = _NAME.match(text)
    return name is not None and name.end() <= LONGEST_NAME


def is_of_registry(text: Any, registries: Iterable[str]) -> bool:
    """Whether an image is from one of some registries, or paths in a registry.

    No runtime normalizes a path, so a name that has `..` is none: `is_pinned` says so.
    """
    return isinstance(text, str) and any(text.startswith(f"{registry.rstrip('/')}/") for registry in registries)


def fault(text: Any) -> str | None:
    """Return the problem with an image that should be named by digest, and what to write; None if nothing is."""
    if is_pinned(text):
        return None
    if not isinstance(text, str):
        return "is not a text; write repository@sha256:digest"
    parts = _REFERENCE.fullmatch(text) if len(text) <= LONGEST else None
    if parts is not None and parts["digest"] is None:
        return "is not named by digest; name it as repository@sha256:digest"
    if parts is not None and is_short(text):
        return "has a digest other than sha256: and 64 lower case hex digits; write the registry's"
    if len(text) > LONGEST or parts is not None:
        return f"has a name of more than {LONGEST_NAME} characters; push it to a shorter one"
    return "is a name that no node can pull; write registry/path@sha256:digest in lower case"


def explain(text: str) -> tuple[str, str]:
    """Return the fault of an image that a spec may not name, and the part of it that is at fault."""
    name, at, digest = text.partition("@")
    path, colon, tag = name.rpartition(":")
    is_tagged = bool(colon) and "/" not in tag
    if (blank := re.search(r"\s", text)) is not None:
        return "has a space; remove it", text[blank.end() :] or text
    if "://" in text:
        return f"begins with {text.partition('://')[0]}://; remove that", text
    if not at:
        how = "write @sha256: and the image's digest"
        return (
            (f"has tag {tag[:SHOWN]!r} and no digest; {how}", f":{tag}")
            if is_tagged
            else (f"has no digest; {how}", name)
        )
    return explain_digest(digest) or explain_name(path if is_tagged else name)


SHOWN = 40
"""Characters of a part that a message quotes."""


def explain_digest(digest: str) -> tuple[str, str] | None:
    """Return the fault of a digest, and the part at fault; None where it has none."""
    algorithm, _, digits = digest.partition(":")
    if algorithm != "sha256":
        return "has a digest that does not begin with sha256:; copy the digest from the registry", f"@{digest}"
    if (odd := re.search("[^0-9a-fA-F]", digits)) is not None:
        return f"has {odd[0]!r} in its digest; a digest has only 0-9 and a-f", digits
    if len(digits) != 64:
        return f"has a digest of {len(digits)} digits, but sha256 has 64; copy the whole digest", digits or f"@{digest}"
    return ("has upper case in its digest; write it in lower case", digits) if digits != digits.lower() else None


def explain_name(name: str) -> tuple[str, str]:
    """Return the fault of registry or path of an image, and the part at fault."""
    registry, slash, path = name.partition("/")
    if not slash:
        return f"has no registry; write registry/{name[:SHOWN]}", name
    if re.fullmatch(DOMAIN, registry) is None:
        return f"has {registry[:SHOWN]!r} as its registry, which is no host name; correct it", name
    if (upper := re.search("[A-Z]", path)) is not None:
        part = next(part for part in path.split("/") if upper[0] in part)
        return f"has upper case in {part[:SHOWN]!r}; write it in lower case", part
    part = next((part for part in path.split("/") if re.fullmatch(COMPONENT, part) is None), path)
    return f"has {part[:SHOWN]!r} in its path; use lower case, digits and single '.', '_' or '-'", part or name


def condition(x: str) -> str:
    """Return the condition in CEL that an expression names an image by digest, in a form that runtimes take."""
    return (
        f"size({x}) <= {LONGEST} && {x}.matches({quote_pattern(f'^(?:{PINNED})$')}) && "
        f"size({x}.find({quote_pattern(f'^{NAME}')})) <= {LONGEST_NAME}"
    )


def quote_pattern(expression: str) -> str:
    """Return a regular expression as a raw text in CEL."""
    return f"r'{expression}'"
