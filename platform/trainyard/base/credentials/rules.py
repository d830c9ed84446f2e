"""The rules on credentials, and what helps against each; nothing that is said has any of the value."""

from __future__ import annotations

import re
from collections.abc import Collection

from trainyard.base.credentials.find import Leak
from trainyard.base.credentials.names import kind_of
from trainyard.base.rules import Rule

PLAIN = Rule(
    id="sec-env-secret",
    title="Specs and manifests contain no tokens, keys and passwords.",
    why="everybody who can read the repository, its history or the object has the key",
    fix="move the value into a Secret, refer to it, and replace the key: this one was visible",
    source="kubernetes/website v1.35 content/en/docs/concepts/security/secrets-good-practices.md",
    layer="policy",
    may_waive=True,
    may_warn=True,
    hides=True,
)
IN_SECRET = Rule(
    id="sec-secret-manifest",
    title="No Secret is stored with its values in Git.",
    why="base64 is not encryption: everybody who can read the repository or its history has the values",
    fix="use External Secrets, Sealed Secrets or SOPS; Git then holds a reference or an encrypted value",
    source="kubernetes/website v1.35 content/en/docs/concepts/security/secrets-good-practices.md",
    layer="policy",
    may_waive=True,
    may_warn=True,
    hides=True,
)

NAMES = {
    "a token of Hugging Face": "HF_TOKEN",
    "a token of GitHub": "GITHUB_TOKEN",
    "a token of GitLab": "GITLAB_TOKEN",
    "an access key of AWS": "AWS_ACCESS_KEY_ID",
    "a key of Weights & Biases": "WANDB_API_KEY",
    "a key of OpenAI": "OPENAI_API_KEY",
    "a key of Anthropic": "ANTHROPIC_API_KEY",
    "a key of NVIDIA": "NGC_API_KEY",
}
"""What programs call the variable of a key that stands without a name."""

OWNERS = {"hf": "hugging-face", "huggingface": "hugging-face"}
"""What a Secret is called where its variables have something shorter."""

ENDING = re.compile(
    r"((?:SECRET_)?ACCESS_KEY(?:_ID)?|(?:API|SECRET|PRIVATE|AUTH|SIGNING|ENCRYPTION)_?KEY"
    r"|(?:ACCESS|AUTH|API|BOT|READ|WRITE)_TOKEN|CLIENT_SECRET|[A-Z0-9]+)$"
)
"""The part of a variable's name that says what it is; what is before it says whose."""


def variable(leak: Leak) -> str:
    """Return the variable that should hold a credential: that which does, or one that is usual."""
    usual = NAMES.get(leak.what, "TOKEN")
    if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", leak.name):
        return leak.name
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z0-9]+", "_", leak.name.rpartition("/")[2]).strip("_").upper()
    if kind_of(leak.name) is None or not re.fullmatch(r"[A-Z][A-Z0-9_]*", words):
        return usual
    return words if "_" in words or leak.what not in NAMES else usual


def remedy(name: str, secrets: Collection[str] = ()) -> str:
    """Return the field by which a job replaces a variable's value: `secrets: {HF_TOKEN: hugging-face/token}`.

    `secrets` are those that the team has, of which one may be meant.
    """
    ending = ENDING.search(name)
    key = ending[1] if ending else name
    owner = name.removesuffix(key).strip("_").lower().replace("_", "-")
    owner = OWNERS.get(owner, owner)
    near = next((secret for secret in sorted(secrets) if owner in {secret, *secret.split("-")}), owner)
    return f"secrets: {{{name}: {near or 'credentials'}/{key.lower().replace('_', '-')}}}"
