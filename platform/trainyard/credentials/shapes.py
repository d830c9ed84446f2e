"""What tokens and keys look like: the published forms of their issuers, as data.

Lengths and alphabets are those that issuers document, and where they do not, those that the rules of gitleaks v8.30
`cmd/generate/config/rules` and GitHub's list of supported secret scanning patterns agree on. A form that other things
have as well is not here: such keys are known by the names that they stand under.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import re2

from trainyard.credentials.literals import is_documented, is_placeholder


class Shape(NamedTuple):
    """What something is, in words, and what it looks like; a group, if there is one, is the secret part."""

    what: str
    pattern: str
    hint: str
    """A part that every match has, quick to look for."""
    free: bool = False
    """Whether anything may stand beside it, since what is around it tells what it is."""


BODY = r"[A-Za-z0-9_-]"
WORD = r"[A-Za-z0-9]"

SHAPES: tuple[Shape, ...] = (
    Shape("a token of Hugging Face", rf"(?:hf|api_org)_{WORD}{{30,64}}", r"hf_|api_org_"),
    Shape("a token of GitHub", rf"gh[pousr]_{WORD}{{30,255}}", r"gh[pousr]_"),
    Shape("a token of GitHub", r"github_pat_[A-Za-z0-9_]{22,255}", r"github_pat_"),
    Shape(
        "a token of GitLab",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_=.-]{20,}",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-",
    ),
    Shape("an access key of AWS", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", r"A3T|AKIA|ASIA|ABIA|ACCA"),
    Shape(
        "a key of Amazon Bedrock",
        r"(?:ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{40,})",
        r"ABSK|bedrock-api-key-",
    ),
    Shape("an API key of Google", rf"AIza{BODY}{{35}}", r"AIza"),
    Shape("a token of Google", rf"ya29\.{BODY}{{20,}}", r"ya29\."),
    Shape("a client secret of Google", rf"GOCSPX-{BODY}{{20,}}", r"GOCSPX-"),
    Shape("a key of Anthropic", rf"sk-ant-{BODY}{{20,}}", r"sk-ant-"),
    Shape("a key of OpenRouter", r"sk-or-v1-[0-9a-f]{32,}", r"sk-or-"),
    Shape("a key of OpenAI", rf"sk-(?:proj|svcacct|admin|None)-{BODY}{{20,}}", r"sk-(?:proj|svcacct|admin|None)-"),
    Shape("a key of OpenAI", rf"sk-{WORD}{{20}}T3BlbkFJ{WORD}{{20}}", r"T3BlbkFJ"),
    Shape("an API key", rf"sk-(?=[A-Za-z]*[0-9]){WORD}{{32,}}", rf"sk-{WORD}{{16}}"),
    Shape("a key of Stripe", rf"[rs]k_(?:live|test|prod)_{WORD}{{16,}}", r"k_(?:live|test|prod)_"),
    Shape("a token of Slack", r"xox[abceoprs]-(?:\d-)?[A-Za-z0-9-]{10,}", r"xox[abceoprs]-"),
    Shape("a token of Slack", r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+", r"xapp-"),
    Shape(
        "a webhook of Slack",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,})",
        r"hooks\.slack\.com",
        free=True,
    ),
    Shape(
        "a webhook of Discord",
        rf"https://discord(?:app)?\.com/api/webhooks/\d+/({BODY}{{40,}})",
        r"/api/webhooks/",
        free=True,
    ),
    Shape(
        "a webhook of Microsoft Teams",
        r"https://[a-z0-9-]+\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})",
        r"webhook\.office\.com",
        free=True,
    ),
    Shape("a token of Telegram", rf"\d{{8,10}}:AA{BODY}{{33}}", r"[0-9]:AA"),
    Shape("a token of npm", rf"npm_{WORD}{{30,}}", r"npm_"),
    Shape("a token of PyPI", rf"pypi-{BODY}{{40,}}", r"pypi-"),
    Shape("a token of DigitalOcean", r"do[opr]_v1_[a-f0-9]{40,}", r"do[opr]_v1_"),
    Shape("a key of SendGrid", rf"SG\.{BODY}{{16,32}}\.{BODY}{{16,64}}", r"SG\."),
    Shape("a key of NVIDIA", rf"nvapi-{BODY}{{30,}}", r"nvapi-"),
    Shape("a key of Weights & Biases", r"wandb_v1_[A-Za-z0-9_]{20,}", r"wandb_v1_"),
    Shape(
        "a key of Weights & Biases",
        r"(?i:wandb|weights.?and.?biases)[^\n]{0,40}?\b([0-9a-f]{40})\b",
        r"(?i:wandb|biases)",
    ),
    Shape("a key of Groq", rf"gsk_{WORD}{{40,}}", r"gsk_"),
    Shape("a key of xAI", rf"xai-{WORD}{{60,}}", r"xai-"),
    Shape("a key of Perplexity", rf"pplx-{WORD}{{40,}}", r"pplx-"),
    Shape("a token of Replicate", rf"r8_{WORD}{{37,40}}", r"r8_"),
    Shape("a key of RunPod", rf"rpa_{WORD}{{40,}}", r"rpa_"),
    Shape("a key of LangSmith", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", r"lsv2_"),
    Shape("a secret key of Langfuse", r"sk-lf-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", r"sk-lf-"),
    Shape("a token of Databricks", r"dapi[a-f0-9]{32}(?:-\d)?", r"dapi[a-f0-9]"),
    Shape("a token of Grafana", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}", r"glsa_|glc_"),
    Shape("a token of Vault", rf"hv[sbr]\.{BODY}{{24,}}", r"hv[sbr]\."),
    Shape("a token of HCP Terraform", rf"{WORD}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,}}", r"\.atlasv1\."),
    Shape("a token of Docker Hub", rf"dckr_(?:pat|oat)_{BODY}{{20,}}", r"dckr_"),
    Shape("a key of Linear", rf"lin_(?:api|oauth)_{WORD}{{32,}}", r"lin_"),
    Shape("a token of Notion", rf"ntn_{WORD}{{40,}}", r"ntn_"),
    Shape("a key of Postman", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", r"PMAK-"),
    Shape("a token of Pulumi", r"pul-[a-f0-9]{40}", r"pul-"),
    Shape("a token of Shopify", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", r"shp[a-z]+_"),
    Shape("a key of New Relic", r"NR(?:AK|II)-[A-Za-z0-9_-]{27,32}", r"NR(?:AK|II)-"),
    Shape("a token of Sentry", r"sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{40,}", r"sntry"),
    Shape("a token of Doppler", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]+\.)?{WORD}{{40,}}", r"dp\.[a-z]+\."),
    Shape("a token of Atlassian", r"ATATT3[A-Za-z0-9_=-]{60,}", r"ATATT3"),
    Shape("a token of Supabase", r"sbp_[0-9a-f]{40}", r"sbp_"),
    Shape("an access key of Alibaba Cloud", rf"LTAI{WORD}{{17,21}}", r"LTAI"),
    Shape("a secret key of age", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", r"AGE-SECRET-KEY-"),
    Shape("a token of Artifactory", rf"AKCp{WORD}{{60,}}", r"AKCp"),
    Shape(
        "an account key of Azure",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
        r"AccountKey=|SharedAccessKey=",
        free=True,
    ),
    Shape("a signed URL of Azure", r"[?&]sig=([A-Za-z0-9%+/]{40,}={0,2})", r"[?&]sig=", free=True),
    Shape("a client secret of Azure", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", r"[0-9]Q~"),
    Shape(
        "a JSON Web Token",
        rf"eyJ{BODY}{{10,}}\.eyJ{BODY}{{10,}}\.{BODY}{{10,}}",
        r"\.eyJ",
    ),
    Shape(
        "a private key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\+[nr]|[\s\"'+|>])*"
        r"(?:[A-Za-z-]+: [^\n]*(?:\\n|\s)+)*"
        r"([A-Za-z0-9+/=](?:[A-Za-z0-9+/=\s]|\\+[nr]){39,})",
        r"PRIVATE KEY",
        free=True,
    ),
    Shape(
        "a private key",
        r"LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURSBLRVk|BQUklWQVRFIEtFW|BFQyBQUklWQVRFIEtFW|BPUEVOU1NIIFBSSVZBVEUgS0VZ"
        r"|BEU0EgUFJJVkFURSBLRVk|BFTkNSWVBURUQgUFJJVkFURSBLRV)([A-Za-z0-9+/]{40,}={0,2})",
        r"LS0tLS1CRUdJTi",
        free=True,
    ),
    Shape(
        "a private key of PuTTY",
        r"PuTTY-User-Key-File-\d[^\0]{0,2000}?Private-Lines: \d+\s+([A-Za-z0-9+/=]{20,})",
        r"PuTTY-User-Key",
        free=True,
    ),
    Shape(
        "a password in a URL",
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'<>{}$\\]{0,80}:([^\s/@\"'<>{}\\]{2,120})@[A-Za-z0-9\[$<{]",
        r"://[^\s/@]*:[^\s/@]+@",
        free=True,
    ),
    Shape(
        "a login to a registry", r"\\?\"auth\\?\"\s*:\s*\\?\"([A-Za-z0-9+/]{8,}={0,2})\\?\"", r"auth\\?\"", free=True
    ),
    Shape(
        "an Authorization header",
        r"(?i:authorization)[\\\"']{0,2}\s*[:=,]\s*[\\\"']{0,2}(?i:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{12,})",
        r"(?i:authorization)[\\\"']{0,2}\s*[:=,]",
        free=True,
    ),
)

LEFT, RIGHT = r"(?<![A-Za-z0-9_/+-])", r"(?![A-Za-z0-9])"
HINTS = "|".join(f"(?:{each.hint})" for each in SHAPES)

_HINTED = re2.compile(HINTS)
_APART = re2.Set.SearchSet()
for _each in SHAPES:
    _APART.Add(_each.hint)
_APART.Compile()


class Match(NamedTuple):
    """A token or key in a text: what it is, the part that is secret, and where that starts."""

    what: str
    value: str
    start: int
    documented: bool
    """Whether it is one that its issuer's documents show, which opens nothing."""


SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """Return a text as long as it was, with a sign in place of each byte of a file's name that is no UTF-8."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def shapes_in(text: str) -> Iterator[Match]:
    """Yield the tokens and keys in a text, those first whose form says most; placeholders are none."""
    text = encodable(text)
    data = text.encode()
    if _HINTED.search(data) is None:
        return
    taken: list[tuple[int, int]] = []
    for shape in hinted(data):
        pattern, what = compiled(shape), shape.what
        for match in pattern.finditer(text):
            group = 1 if pattern.groups and match[1] is not None else 0
            value, (start, end) = match[group], match.span(group)
            if any(start < last and first < end for first, last in taken) or is_no_key(what, value, match[0]):
                continue
            taken.append((start, end))
            yield Match(what, value, start, is_documented(match[0]))


def hinted(data: bytes) -> list[Shape]:
    """Return what to look for in a text that has some hint, in the order of the shapes.

    It is all of them where no hint is told: a set that runs out of memory tells none.
    """
    found: list[int] = sorted(_APART.Match(data))
    return [SHAPES[number] for number in found] if found else list(SHAPES)


@cache
def compiled(shape: Shape) -> re.Pattern[str]:
    """Return what to look for: to make all of them takes longer than most commands need any."""
    return re.compile(shape.pattern if shape.free else f"{LEFT}(?:{shape.pattern}){RIGHT}")


def is_no_key(what: str, value: str, around: str) -> bool:
    """Say whether what looks like a key stands for one."""
    if what == "a password in a URL":
        user = around.partition("://")[2].partition(":")[0].lower()
        return is_placeholder(value) or (user in USERS and value.lower() in PASSWORDS) or value.isdigit()
    if what == "an Authorization header":
        return is_placeholder(value)
    return len(set(value)) <= FEW or is_placeholder(value)


USERS = frozenset({"user", "username", "usr", "name", "login", "youruser", "myuser"})
PASSWORDS = frozenset({"password", "pass", "passwd", "pwd", "pw", "token", "secret", "yourpassword", "mypassword"})
"""How documents write a URL with a password."""

FEW = 5
"""Different characters that a placeholder such as `hf_xxxxxxxx` has at most."""
