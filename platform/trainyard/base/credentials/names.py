"""Names that credentials stand under, and how sure a value under such a name is one."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from trainyard.base.credentials.literals import (
    is_checksum,
    is_elsewhere,
    is_number,
    is_placeholder,
    is_random,
    is_uuid,
    is_weak,
)

WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

PASSWORD = frozenset({"password", "passwd", "passphrase", "pwd", "passcode", "requirepass"})
PASS_OF = re.compile(
    r"db|database|user|smtp|mail|email|mysql|mariadb|postgres|pg|redis|mongo|admin|root|ftp|basic|auth|"
    r"registry|docker|proxy|ldap|sudo|ssh|vnc|minio|rabbitmq|git|http|login|keystore|truststore|api"
)
"""Whose PASS is a password: a pass may be one over data as well."""

KEY_OF = re.compile(
    r"api|access|secret|private|encryption|encrypt|signing|sign|auth|authorization|account|storage|admin|"
    r"license|licence|service|ssh|gpg|jwt|session|subscription|client|shared|hmac|deploy|app|application|"
    r"webhook|ingest|ingestion|aes|wandb|hf|huggingface|openai|anthropic|neptune|comet|ngc|nvidia|mlflow|"
    r"clearml|datadog|dd|sentry|cohere|groq|mistral|gemini|google|aws|azure|gcp|s3|minio|github|gitlab|"
    r"slack|roboflow|langchain|langsmith|pinecone|tavily|serper|replicate|together|fireworks|deepseek|"
    r"dashscope|kaggle|rsa|tls|ssl|cookie|csrf|crypto|cipher|decryption|wireguard|preshared|psk|host|"
    r"management|functions|cosmos|redis|instrumentation|stripe|twilio|sendgrid|mailgun"
)
"""Whose KEY is a secret: others are names of fields, columns and labels."""

OF_TEXTS = re.compile(
    r"pad|eos|bos|unk|unknown|mask|sep|cls|stop|end|start|begin|special|image|img|video|audio|vision|"
    r"speech|placeholder|initializer|modifier|trigger|prefix|suffix|user|assistant|system|think|thinking|"
    r"tool|eot|eod|eom|fim|instance|concept|new|added|add|vocab|separator|blank|class|first|last|next|max|"
    r"min|num|per|decoder|encoder|forced|language|lang|task|text|word|sub|continuation|cancellation|reset|"
    r"replace|soft|virtual|lora|response|instruction|role|message|query|document|doc|reward|value|score|ph|"
    r"input|output|target|label|timestamp|timestep|space|newline|use|rare"
)
"""Whose TOKEN is a piece of a text to a language model, or a count of such."""


class Kind(Enum):
    """What stands under a name."""

    PASSWORD = "a password"  # noqa: S105  # words for people
    TOKEN = "a token"  # noqa: S105
    SECRET = "a secret"  # noqa: S105
    KEY = "a key"
    CREDENTIALS = "credentials"
    PERHAPS = "what looks like a key"
    """Of a name that fields, columns and words have, too."""


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """Return the kind of credential that a name stands for, by its last words; None for any other name."""
    words = [word.lower() for word in WORDS.findall(name.rpartition("/")[2])]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    plural = last in {"tokens", "keys", "secrets", "passwords"}
    stem = last.removesuffix("s") if plural else last
    if before + stem in {"apikey", "passwd", "password", "passphrase"}:
        return Kind.KEY if stem == "key" else Kind.PASSWORD
    if stem in PASSWORD or stem.endswith(("password", "passwd", "passphrase")):
        return Kind.PASSWORD if (words != ["pwd"] and before != "old") or stem != "pwd" else None
    if stem.endswith("pass"):
        return Kind.PASSWORD if PASS_OF.fullmatch(stem.removesuffix("pass") or before) else None
    if stem == "token" or stem.endswith("token"):
        return Kind.PERHAPS if OF_TEXTS.fullmatch(before) or plural else Kind.TOKEN
    if stem == "secret" or stem.endswith("secret"):
        return Kind.PERHAPS if plural else Kind.SECRET
    if last in {"credential", "credentials", "creds", "cred"}:
        return Kind.CREDENTIALS
    if stem == "key" or stem.endswith(("apikey", "secretkey", "accesskey", "privatekey", "authkey")):
        if before in {"public", "primary", "sort", "partition", "foreign", "row", "column", "idempotency"}:
            return None
        return Kind.KEY if stem != "key" or KEY_OF.fullmatch(before) else Kind.PERHAPS
    return None


class Sure(Enum):
    """How sure it is that a value is a credential."""

    NO = 0
    EXAMPLE = 1
    """It is one that its issuer's documents show, which opens nothing."""
    NAMED = 2
    """It is under its name, but may as well be what somebody calls a Secret or a cluster."""
    WEAK = 3
    """It is one, but a word that everybody tries first: an example's, or no protection."""
    YES = 4


def weigh(name: str, value: str, *, told: bool) -> tuple[Kind, Sure]:
    """Return the kind of credential that a value under a name is, and how sure that is.

    `told` says that a program is told the value, by a variable or a flag: then any literal under the name of a secret
    is one. A field of an object or of a file may as well name a Secret, or a key of one.
    """
    kind = kind_of(name)
    if kind is None or is_placeholder(value) or is_elsewhere(value) or value.strip().lower() == name.lower():
        return Kind.PERHAPS, Sure.NO
    if is_checksum(name, value) or (kind is Kind.PERHAPS and is_uuid(value)):
        return kind, Sure.NO
    if is_random(value):
        return kind, Sure.YES
    if kind is Kind.PERHAPS or (kind is Kind.CREDENTIALS and not told):
        return kind, Sure.NO
    if kind is Kind.PASSWORD:
        return kind, of_password(value, told=told)
    if not told or is_number(value) or re.search(r"\s", value) or names_secret(name, value):
        return kind, Sure.NO
    return kind, Sure.NAMED if is_named(value) else Sure.WEAK if is_weak(value) else Sure.YES


def of_password(value: str, *, told: bool) -> Sure:
    """Return how sure it is that a literal under the name of a password is one: words of a sentence are none."""
    text = value.strip()
    if len(text) < SHORT and is_number(text):
        return Sure.NO
    if re.search(r"\s", text) and not (told and len(text.split()) < SENTENCE):
        return Sure.NO
    return Sure.WEAK if is_weak(text) else Sure.YES


SHORT = 4
"""Digits of a number that may be a password: shorter ones are lengths and counts."""

SENTENCE = 6
"""Words of a text that is no pass phrase any more."""


def names_secret(name: str, value: str) -> bool:
    """Say whether a variable says which Secret is meant, as `TLS_SECRET: my-tls` does.

    That of a certificate or a registry does with any name of an object, since neither fits into a variable. Any other
    does where the value has the variable's own word; `CLIENT_SECRET` and the like are what they say.
    """
    words = [word.lower() for word in WORDS.findall(name.rpartition("/")[2])]
    if len(words) == 1 or words[-1] != "secret" or LABEL.fullmatch(value.strip()) is None or not is_named(value):
        return False
    if words[-2] in OF_OBJECTS:
        return True
    return words[-2] not in SECRET_OF and "-" in value and not {*words[:-1]}.isdisjoint(value.strip().split("-"))


LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""What an object may be called (RFC 1123)."""

OF_OBJECTS = frozenset({"tls", "ssl", "cert", "certificate", "ca", "pull", "registry"})
SECRET_OF = frozenset(
    {
        *("client", "jwt", "session", "webhook", "api", "app", "shared", "consumer", "cookie", "signing", "hmac"),
        *("auth", "nextauth", "oauth", "access", "encryption", "token", "csrf", "bot", "the", "my", "user"),
    }
)
"""Whose SECRET is a text that two sides know, never an object."""


def is_named(value: str) -> bool:
    """Say whether a value is made of words, as names of objects and of fields are."""
    return re.fullmatch(r"[a-zA-Z]+\d{0,2}(?:[-._/][a-zA-Z]*\d{0,2})*", value.strip()) is not None
