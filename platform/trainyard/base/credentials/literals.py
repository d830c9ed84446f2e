"""Whether a value is a literal, or stands for one: a reference, a place, a switch, a word of a document's author."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

REFERENCE = re.compile(
    r"\$\(|\$\{|\$[A-Za-z_]|\{\{|\}\}|%\(|%[A-Z_]+%|__[A-Za-z_]+__|@@|ENC\["
    r"|^(?:vault|op|ref\+?|awssm|gcpsm|gcp|sops|secret|secretref|env|file|aws-ssm|azurekv|kms|berglas|sm|keyring):"
    r"|^`|^\$[0-9@*#?]$|^arn:|^projects/[^/]+/secrets/|^@/|^!|^(?:os\.environ|process\.env|System\.getenv)",
    re.IGNORECASE,
)
"""What another program puts a value in the place of, or fetches it by."""

PATH = re.compile(r"(?:file://|~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+=, -]*)+")
FILE = re.compile(r"[\w./@+-]+\.(?:txt|key|pem|crt|cert|json|ya?ml|p12|pfx|jks|env|conf|cfg|ini|toml|properties|pub)")
URL = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)
SWITCH = re.compile(
    r"true|false|yes|no|on|off|null|none|nil|auto|default|disabled?|enabled?|required|optional|n/?a|unset|undefined|inherit|ignore",
    re.IGNORECASE,
)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[a-zA-Z%]{1,2})?")
HASH = re.compile(
    r"\$(?:2[aby]?|5|6|y|argon2\w*|apr1|pbkdf2\S*|1)\$|\{(?:SHA|SSHA|CRYPT)\w*\}|(?:sha256|sha512|md5|bcrypt|pbkdf2)[:$]",
    re.IGNORECASE,
)
DIGEST = re.compile(r"[0-9a-f]{7,128}", re.IGNORECASE)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
CERTIFICATE = re.compile(
    r"-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|X509 CRL)|ssh-(?:rsa|ed25519) "
    r"|LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS"
)

STANDS_FOR = re.compile(
    r"<.*>|\[.*\]|\{.*\}|\(.*\)|[xX*#.\-_?0…•]+|.*x{4,}.*|.*\*{3,}.*|.*\.{3,}.*|.*…"
    r"|(?:your|insert|enter|put|paste|replace|fill|to-?be|set|use|add|provide|specify)[-_ ].*|your[a-z]+"
    r"|(?:replace|fill|insert|set|edit|update)[-_ ]?(?:me|this|with|it|in).*"
    r"|.*(?:placeholder|redacted|removed|masked|todo|fixme|tbd\b|goes[-_ ]?here|[-_ ]here$|to[-_]be[-_]replaced).*"
    r"|.*(?:overrid|injected|generated|managed[-_]by).*",
    re.IGNORECASE | re.DOTALL,
)
"""What the author of a document writes where a reader is to put a value of their own."""

_BEFORE = (
    r"(?:my|the|a|some|super|very|top|test|default|example|sample|demo|dummy|fake|new|old|initial|db|root|admin|user"
    r"|app|secure|strong|mysql|postgres|redis|minio|rabbitmq|guest|secret)*[-_ .]*"
)
_WORD = (
    r"(?:password|passwd|pass|pwd|secret|token|key|admin|root|user|test|testing|demo|example|dummy|fake|postgres|mysql"
    r"|redis|minio|minio123|minioadmin|guest|rabbitmq|default|string|value|foo|bar|baz|foobar|letmein|hello|sample)"
)
_BEHIND = r"[-_ .]*(?:value|\d{0,4}|key|token|secret|password)[!?]*"
WEAK = re.compile(
    rf"(?:change|fix)[-_ ]?(?:me|it|this)\w*|{_BEFORE}{_WORD}{_BEHIND}|p[a@](?:ss|\$\$)w[o0]rd\d*!?|1234\d*|qwerty\w*"
    r"|abcd?\w{0,3}|rootpass\w*|not[-_ ]?a?[-_ ]?(?:real|secret).*",
    re.IGNORECASE,
)
"""Words that everybody tries first: a real secret is none of them, and a password that is one protects nothing."""

DOCUMENTED = re.compile(
    r"EXAMPLE|example|abcdef\.0123456789abcdef|^eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJzdWIiOiIxMjM0NTY3ODkwI"
)
"""Keys that their issuers' documents show, as `AKIAIOSFODNN7EXAMPLE`."""

LONGEST = 120
"""Characters of a value that may be a word or a reference."""

SHORTEST = 16
"""Characters that a random key has at least."""


def is_placeholder(value: str) -> bool:
    """Say whether a value is a reference, or stands where somebody is to put one."""
    text = value.strip().strip("\"'")
    if len(text) > LONGEST:
        return text.startswith(("ENC[", "{{", "${", "$("))
    return not text or REFERENCE.search(text) is not None or STANDS_FOR.fullmatch(text) is not None


def is_documented(text: str) -> bool:
    """Say whether a key is one that is published as an example."""
    return DOCUMENTED.search(text) is not None


def is_elsewhere(value: str) -> bool:
    """Say whether a value is none: a place where it is, a switch, a hash, or a certificate."""
    text = value.strip()
    forms = (PATH, FILE, URL, SWITCH)
    return any(form.fullmatch(text) for form in forms) or any(form.match(text) for form in (HASH, CERTIFICATE))


def is_checksum(name: str, value: str) -> bool:
    """Say whether a value is the digest of what its name says: charts restart pods by annotations of such.

    The name is that of Helm's documents (helm/helm-www `content/en/docs/howto/charts_tips_and_tricks.md`).
    """
    return name.startswith("checksum/") and DIGEST.fullmatch(value.strip()) is not None


def is_number(value: str) -> bool:
    """Say whether a value is a number, perhaps with a unit."""
    return NUMBER.fullmatch(value.strip()) is not None


def is_weak(value: str) -> bool:
    """Say whether a value is a word that everybody tries first."""
    return len(value) <= LONGEST and WEAK.fullmatch(value.strip().strip("\"'")) is not None


def is_random(value: str) -> bool:
    """Say whether a value looks as a random generator makes it, and not as people name things.

    It is long, of letters and digits that change places often, or of both cases; entropy is that of Shannon in bits
    per character, which words of a language and names of objects do not reach.
    """
    text = value.strip().rstrip("=")
    if len(text) < SHORTEST or not re.fullmatch(r"[A-Za-z0-9+/_.~=:-]+", text):
        return False
    longest = max(re.split(r"[/_.~=:+-]", text), key=len)
    whole = text if UUID.fullmatch(text) else longest
    if len(whole) < SHORTEST - 4 and not (re.search(r"[+/]", text) and len(text) >= 2 * SHORTEST):
        return False
    digits, upper = sum(map(str.isdigit, text)), sum(map(str.isupper, text))
    lower = len(text) - digits - upper
    turns = len(re.findall(r"(?<=[A-Za-z])[0-9]|(?<=[a-z])[A-Z]", text))
    mixed = digits >= 2 and (upper + lower) >= 2 and turns >= 3
    return mixed and entropy(text) >= 3.0


def is_uuid(value: str) -> bool:
    """Say whether a value is a UUID, which names things more often than it opens them."""
    return UUID.fullmatch(value.strip()) is not None


def entropy(text: str) -> float:
    """Return the bits that a character of a text tells on average."""
    counts = Counter(text).values()
    return -sum(count / len(text) * log2(count / len(text)) for count in counts)
