"""What is a credential and what is none: the labelled table that the detectors are held to.

No line of this file looks like a key to those who scan repositories: keys are put together from parts.
"""

from __future__ import annotations

import base64
import random
import string
from typing import Any

import pytest

from clock import within
from trainyard.base.credentials import Sure, hides, in_text, leaks, may_hold, of_secret, shapes

LETTERS, DIGITS, HEX = string.ascii_letters, string.digits, "0123456789abcdef"
_dice = random.Random(7)  # the same on every run


def made(count: int, of: str = LETTERS + DIGITS) -> str:
    """Return so many random characters, among which are a letter and a digit."""
    return (
        "".join(_dice.choice(of) for _ in range(count - 2))
        + next(item for item in of if item.islower() or item.isupper())
        + of[-1]
    )


KEY = "\n".join(made(64, LETTERS + DIGITS + "+/") for _ in range(6))


def pem(kind: str) -> str:
    """Return a private key as it stands in a file."""
    return f"-----BEGIN {kind}-----\n{KEY}\n-----END {kind}-----\n"


SHAPES = {
    "Hugging Face": "hf_" + made(34, LETTERS),
    "Hugging Face, an organization": "api_org_" + made(34, LETTERS),
    "GitHub, personal": "ghp_" + made(36),
    "GitHub, OAuth": "gho_" + made(36),
    "GitHub, user to server": "ghu_" + made(36),
    "GitHub, server to server": "ghs_" + made(36),
    "GitHub, refresh": "ghr_" + made(76),
    "GitHub, fine-grained": "github_pat_" + made(22) + "_" + made(59),
    "GitLab": "glpat-" + made(20),
    "GitLab, CI job": "glcbt-" + made(24),
    "GitLab, runner": "glrt-" + made(20),
    "AWS": "AKIA" + made(16, string.ascii_uppercase + "234567"),
    "AWS, temporary": "ASIA" + made(16, string.ascii_uppercase + "234567"),
    "Google": "AIza" + made(35),
    "Google, OAuth": "ya29." + made(60),
    "Google, client secret": "GOCSPX-" + made(28),
    "OpenAI": "sk-" + made(20) + "T3Blbk" + "FJ" + made(20),
    "OpenAI, project": "sk-proj-" + made(64),
    "Anthropic": "sk-ant-" + "api03-" + made(93),
    "OpenRouter": "sk-or-v1-" + made(64, HEX),
    "any key with sk-": "sk-" + made(48),
    "Slack, bot": "xoxb-" + made(11, DIGITS + "1a") + "-" + made(24),
    "Slack, user": "xoxp-" + made(40),
    "Slack, app": "xapp-1-" + "A0" + "123-" + "1234567890-" + made(32, HEX),
    "npm": "npm_" + made(36),
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + made(60),
    "DigitalOcean": "dop_v1_" + made(64, HEX),
    "SendGrid": "SG." + made(22) + "." + made(43),
    "NVIDIA": "nvapi-" + made(64),
    "Stripe": "sk_" + "live_" + made(24),
    "Databricks": "dapi" + made(32, HEX),
    "Grafana": "glsa_" + made(32) + "_" + made(8, HEX),
    "Vault": "hvs." + made(90),
    "Docker Hub": "dckr_pat_" + made(27),
    "Groq": "gsk_" + made(52),
    "Replicate": "r8_" + made(37),
    "LangSmith": "lsv2_pt_" + made(32, HEX) + "_" + made(10, HEX),
    "Telegram": "1234567890:AA" + made(33),
    "age": "AGE-SECRET-" + "KEY-1" + made(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "a web token": ".".join("eyJ" + made(count) for count in (20, 60)) + "." + made(43),
    "an RSA key": pem("RSA " + "PRIVATE KEY"),
    "an OpenSSH key": pem("OPENSSH " + "PRIVATE KEY"),
    "a PKCS 8 key": pem("PRIVATE " + "KEY"),
    "an elliptic key": pem("EC " + "PRIVATE KEY"),
    "a PGP key": pem("PGP PRIVATE " + "KEY BLOCK"),
    "a key on one line": pem("PRIVATE " + "KEY").replace("\n", "\\n"),
    "a key in base64": base64.b64encode(pem("RSA " + "PRIVATE KEY").encode()).decode(),
    "a password in a URL": "postgresql://me:" + "hunter2" + "@db.example.com:5432/runs",
    "a password of Redis, which has no users": "redis://:" + "s3cr3tpw" + "@cache:6379/0",
    "a token in Git's URL": "https://oauth2:" + made(20) + "@gitlab.example.com/a/b.git",
    "a webhook of Slack": "https://hooks.slack.com/" + "services/T" + made(8) + "/B" + made(8) + "/" + made(24),
    "a webhook of Discord": "https://discord.com/api/" + "webhooks/123456789012345678/" + made(68),
    "a key of an Azure account": "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=" + made(86) + "==",
    "a signed URL of Azure": "https://x.blob.core.windows.net/c?sv=2024-01-01&si" + "g=" + made(43) + "%3D",
    "a login of docker": '{"auths": {"https://index.docker.io/v1/": {"au' + 'th": "' + made(28) + '="}}}',
    "a header": "Authorization: Bearer " + made(40),
    "a key of Weights & Biases by its command": "wandb login " + made(40, HEX),
}  # fmt: skip
"""What tokens and keys look like, wherever they stand."""

NO_SHAPES = {
    "a reference of Kubernetes": "$(HF_TOKEN)",
    "a reference of a shell": "https://me:${TOKEN}@git.example.com/a.git",
    "a placeholder": "ghp_" + "x" * 36,
    "a placeholder in brackets": "<hf_token>",
    "what a document writes for a URL": "https://user:password@example.com",
    "a URL with a port": "http://prometheus.monitoring:9090/api/v1/write",
    "an image with digest": "registry.example.com:5000/nlp/llm@sha256:" + "4f0c7e2ab95d8136" * 4,
    "an ssh remote": "ssh://git@github.com:22/acme/x.git",
    "an e-mail address": "mailto:me@example.com",
    "a certificate": "-----BEGIN CERTIFICATE-----\n" + KEY + "\n-----END CERTIFICATE-----\n",
    "a public key": "-----BEGIN PUBLIC KEY-----\n" + KEY + "\n-----END PUBLIC KEY-----\n",
    "a key that is left out": "-----BEGIN PRIVATE " + "KEY-----\n...\n-----END PRIVATE KEY-----\n",
    "a commit": "git checkout " + made(40, HEX),
    "a word with sk-": "sk-learn-intelex-with-a-long-name-of-words",
    "a bucket": "s3://datasets-us-east-1/laion-400m/part-00001-of-00128.tar",
    "a model": "meta-llama/Meta-Llama-3.1-405B-Instruct-FP8",
    "an ARN": "arn:aws:iam::123456789012:role/trainer",
    "a UUID": "123e4567-e89b-12d3-a456-426614174000",
}
"""What has some of it, and is no credential."""

TOLD = {
    ("HF_TOKEN", "abc123def"),
    ("WANDB_API_KEY", made(40, HEX)),
    ("AWS_SECRET_ACCESS_KEY", made(40, LETTERS + DIGITS + "/+")),
    ("AWS_SESSION_TOKEN", made(120)),
    ("DB_PASSWORD", "hunter2"),
    ("DB_PASSWORD", "Tr0ub4dor&3"),
    ("DB_PASSWORD", "correct horse battery staple"),
    ("DB_PASSWORD", "20240817"),
    ("MYSQL_PASS", "hunter2"),
    ("POSTGRES_PASSWD", "hunter2"),
    ("SSH_PASSPHRASE", "open sesame"),
    ("CLIENT_SECRET", made(32)),
    ("COMET_API_KEY", made(25)),
    ("NEPTUNE_API_TOKEN", made(60)),
    ("S3_SECRET_KEY", "qwe-RTZ-4711"),
    ("GIT_CREDENTIALS", "zz9pluralzalpha"),
    ("token", "abc123def"),
    ("githubToken", "abc123def"),
    ("API_KEY_2", "k3y-4711-zz"),
    ("MODEL_KEY", made(32)),
    ("requirepass", "s3cr3tpw1"),
    ("dbpass", "hunter22"),
    ("PASSWORD", "hunter-two"),
    ("CLIENT_SECRET", "my-client"),
    ("DB_SECRET", "hunter-two"),
}
"""Variables and flags whose literal is a credential."""

NOT_TOLD = {
    ("HF_TOKEN", ""),
    ("HF_TOKEN", "<token>"),
    ("HF_TOKEN", "$(HF_TOKEN_OF_TEAM)"),
    ("HF_TOKEN", "${HF_TOKEN}"),
    ("HF_TOKEN", "{{ .Values.token }}"),
    ("HF_TOKEN", "xxxxxxxx"),
    ("HF_TOKEN", "your-token-here"),
    ("HF_TOKEN", "REPLACE_ME"),
    ("HF_TOKEN", "/var/run/secrets/hf/token"),
    ("HF_TOKEN", "token.txt"),
    ("HF_TOKEN", "vault:kv/data/hf#token"),
    ("HF_TOKEN_FILE", "abc123def"),
    ("HF_TOKEN_PATH", "abc123def"),
    ("USE_AUTH_TOKEN", "true"),
    ("DISABLE_TOKEN", "1"),
    ("TOKENIZER", "abc123def"),
    ("TOKENIZERS_PARALLELISM", "false"),
    ("NUM_TOKENS", "100000000"),
    ("MAX_NEW_TOKENS", "512"),
    ("MAX_TOKEN", "4096"),
    ("TOKEN_LENGTH", "12"),
    ("EOS_TOKEN", "</s>"),
    ("PAD_TOKEN", "pad0"),
    ("PLACEHOLDER_TOKEN", "sks1"),
    ("initializer_token", "toy1"),
    ("PRIMARY_KEY", "sample_id2"),
    ("SORT_KEY", "length1"),
    ("PUBLIC_KEY", made(40)),
    ("text-key", "content1"),
    ("AWS_ACCESS_KEY_ID_NAME", "x1y2"),
    ("API_KEY_FILE", "abc123def"),
    ("SECRET_NAME", "hugging-face"),
    ("PASSWORD_MIN_LENGTH", "12"),
    ("RESET_PASSWORD", "false"),
    ("PASSWORD_HASH", "abc123def"),
    ("ADMIN_PASSWORD", "$2a$10$" + made(53)),
    ("MONKEY", "abc123def"),
    ("KEYBOARD", "abc123def"),
    ("PWD", "workspace"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/gcp/key.json"),
    ("SINGLE_PASS", "abc123def"),
    ("BYPASS", "abc123def"),
    ("IDEMPOTENCY_KEY", "3fa85f64-5717-4562-b3fc-2c963f66afa6"),
    ("REQUEST_KEY", "3fa85f64-5717-4562-b3fc-2c963f66afa6"),
    ("TLS_SECRET", "my-tls"),
    ("TLS_SECRET", "wildcard-example"),
    ("HF_SECRET", "hf-of-the-team"),
    ("TLS_SECRET_NAME", "my-tls"),
    ("DB_PASSWORD", "`cat f`"),
    ("DB_PASSWORD", "$1"),
}
"""Variables and flags that only look like those of credentials, or whose value stands for one."""


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_key_is_known_by_its_form(text):
    """Wherever it stands: by itself, in a sentence, and in bytes that are looked at quickly."""
    for around in (text, f"see {text} there", f"x='{text}'"):
        assert [item for item in in_text(around) if item.sure is Sure.YES], around
    assert may_hold(text.encode())
    assert list(leaks({"a": [{"b": text}]}))


@pytest.mark.parametrize("text", NO_SHAPES.values(), ids=NO_SHAPES)
def test_what_only_looks_like_a_key_is_none(text):
    """References, placeholders, addresses, digests and public keys pass."""
    assert not list(leaks({"env": {"A": text}, "args": [text, "--model", text], "note": text}))


def as_program(name: str, value: str) -> list[dict[str, Any]]:
    """Return the ways in which a program is told a value."""
    flag = name.lower().replace("_", "-")
    return [
        {"env": {name: value}},
        {"env": [{"name": name, "value": value}]},
        {"args": [f"--{flag}", value]},
        {"args": [f"--{flag}={value}"]},
        {"command": ["sh", "-c", f"export {name.upper()}='{value}' && exec train"]},
    ]


@pytest.mark.parametrize(("name", "value"), sorted(TOLD), ids=lambda item: item[:40])
def test_a_literal_under_the_name_of_a_credential_is_one(name, value):
    """In every way in which a program can be told it; the quick look at the bytes lets all of them through."""
    for way in as_program(name, value):
        assert [leak for leak in leaks(way) if leak.sure.value >= Sure.NAMED.value], way
        assert may_hold(str(way).replace("'", '"').encode()), way


@pytest.mark.parametrize(("name", "value"), sorted(NOT_TOLD), ids=lambda item: item[:40])
def test_what_is_no_credential_passes(name, value):
    """Names of files, counts, words of language models, switches, references and placeholders."""
    for way in as_program(name, value):
        assert not list(leaks(way)), way


MAY = {
    "a value that begins as true does": "DB_PASSWORD: trustno1",
    "a value that begins with true": "DB_PASSWORD: true4ever",
    "a value that begins as false does": "DB_PASSWORD: falcon99",
    "a value in the next line": "DB_PASSWORD:\n  trustno1\n",
    "a value behind a comment": "DB_PASSWORD:  # of the database\n  # old\n  trustno1\n",
    "a value behind a comment of its own": "DB_PASSWORD:\n  # old\n  trustno1\n",
    "a key in the next line": "API_KEY:\n  abc123def\n",
    "a name with a comment": "- name: DB_PASSWORD # note\n  value: hunter2\n",
    "a name in the next line": "- name:\n    DB_PASSWORD\n  value: hunter2\n",
    "a name with an anchor": "- name: &name DB_PASSWORD\n  value: hunter2\n",
    "a value before its key": "- value: hunter2\n  key: DB_PASSWORD\n",
    "a key with a comment": "- key: DB_PASSWORD # note\n  value: hunter2\n",
    "a Secret in JSON": '{"kind": "Secret", "data": {"x": "aGY="}}',
    "a Secret in JSON without blanks": '{"kind":"Secret"}',
}
MAY_NOT = {
    "true": "useToken: true\nautomountServiceAccountToken: false\n",
    "true in a map": "{token: true, password: false}",
    "a map": "secret:\n  secretName: tls\n",
    "a list": "secrets:\n- tls\n",
    "a store of secrets": "kind: SecretStore\n",
}


@pytest.mark.parametrize("text", MAY.values(), ids=MAY)
def test_the_quick_look_lets_through_what_may_be_one(text):
    """However YAML and JSON set it."""
    assert may_hold(text.encode())


@pytest.mark.parametrize("text", MAY_NOT.values(), ids=MAY_NOT)
def test_the_quick_look_knows_what_is_none(text):
    """Else it would spare nothing."""
    assert not may_hold(text.encode())


LINES = {
    "a literal of kubectl": ("kubectl create secret generic x --from-literal=password=hunter22", True),
    "a setting of helm": ("helm install x y --set=auth.password=hunter22", True),
    "a setting of Redis": ("port 6379\nrequirepass s3cr3tpw1\n", True),
    "a plain word as one": ("requirepass secret", True),
    "a setting of Redis in quotes": ("masterauth 's3cr3t pw1'", True),
    "a setting of Redis that is left out": ("# requirepass foobared\nrequirepass ${REDIS_PASSWORD}", False),
    "an empty one": ('requirepass ""\nport 6379', False),
    "words on a setting of Redis": ("see the requirepass option of redis", False),
    "a login of netrc": ("machine hub.example.com login me password hunter22", True),
    "a password of Redis": ("redis-server --requirepass s3cr3tpw1", True),
    "a login": ("curl --user me:hunter22 x", True),
    "a user and a group": ("docker run --user 1000:10001 x", False),
    "what a command prints": ("TOKEN=`cat f` train", False),
    "an argument of the script": ('PASSWORD="$1"; run --password "$2"', False),
}


@pytest.mark.parametrize(("text", "holds"), LINES.values(), ids=LINES)
def test_a_command_line_is_read_as_a_shell_does(text, holds):
    """Options within options are looked into; numbers of users and what the shell puts in are none."""
    found = list(leaks({"command": ["sh", "-c", text]}))
    assert bool(found) == holds
    assert may_hold(text.encode()) or not holds


def test_a_digest_of_settings_is_none():
    """Charts restart pods by the digest of a Secret's file; what is no digest is looked at."""
    assert not list(leaks({"metadata": {"annotations": {"checksum/secret": made(64, HEX)}}}))
    assert list(leaks({"metadata": {"annotations": {"checksum/secret": made(64)}}}))


def test_what_an_external_secret_fetches_by_is_none():
    """The key of `extract` names an entry of the store."""
    extract = {"key": made(26)}
    assert not list(leaks({"kind": "ExternalSecret", "spec": {"dataFrom": [{"extract": extract}]}}))
    assert list(leaks({"extract": {"apiKey": made(26)}}))


LONG = {"dashes": "-", "dots and dashes": ".-", "letters": "A", "options": "--a", "words": "token", "blanks": " "}


@pytest.mark.parametrize("part", LONG.values(), ids=LONG)
def test_a_long_text_takes_no_longer_than_its_length_says(part):
    """A line of many equal signs, which log files and headings have."""
    within(1, lambda: list(in_text(f"{part * 6000} password=hunter2", program=True)))


def test_a_name_of_a_file_that_is_no_text_is_looked_through():
    """Python has its bytes as surrogates, which have no UTF-8."""
    token = SHAPES["GitHub, personal"]
    assert hides(f"a\udcff {token} \udcfe") == "a\udcff (hidden) \udcfe"


DOCUMENTED = {
    "a key of AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "a secret key of AWS": "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
}


def test_a_key_that_documents_show_is_told_apart():
    """In a job it is a key that was typed; in others' manifests it opens nothing."""
    (found,) = in_text(DOCUMENTED["a key of AWS"])
    assert found.sure is Sure.EXAMPLE


def test_fields_of_objects_may_name_a_secret():
    """Beside a password, only what looks random is a credential under a field's name."""
    names = {"secret": "hugging-face", "tokenSecret": "tokens", "passwordKey": "admin-password", "secretKey": "api-key"}
    assert not list(leaks({"spec": names}))
    assert len(list(leaks({"spec": {"clientSecret": made(32), "password": "hunter2"}}))) == 2


def test_what_only_a_controller_decrypts_passes():
    """Sealed values, files that SOPS encrypted, and what External Secrets fetch."""
    sealed = {"kind": "SealedSecret", "spec": {"encryptedData": {"password": made(300)}}}
    sops = {"password": made(40), "sops": {"mac": "ENC[AES256_GCM,data:x]"}}
    external = {"spec": {"data": [{"secretKey": "password", "remoteRef": {"key": "prod/db", "property": "password"}}]}}
    assert not [*leaks(sealed), *leaks(sops), *leaks(external)]


SECRETS = {
    "a password": ({"stringData": {"password": "hunter2"}}, True),
    "a password in base64": ({"data": {"password": base64.b64encode(b"hunter2").decode()}}, True),
    "a private key": ({"data": {"id_rsa": base64.b64encode(pem("RSA " + "PRIVATE KEY").encode()).decode()}}, True),
    "a key of TLS": ({"data": {"tls.key": base64.b64encode(pem("PRIVATE " + "KEY").encode()).decode()}}, True),
    "a token": ({"stringData": {"HF_TOKEN": "abc123def"}}, True),
    "a login of docker": ({"stringData": {".dockerconfigjson": SHAPES["a login of docker"]}}, True),
    "nothing": ({"data": {"password": ""}}, False),
    "a placeholder": ({"stringData": {"password": "<password>"}}, False),
    "a certificate": ({"stringData": {"ca.crt": NO_SHAPES["a certificate"]}}, False),
    "what SOPS encrypted": ({"stringData": {"password": f"ENC[AES256_GCM,data:{made(120)},type:str]"}}, False),
    "a user": ({"stringData": {"username": "postgres"}}, False),
}


@pytest.mark.parametrize(("secret", "holds"), SECRETS.values(), ids=SECRETS)
def test_a_secret_in_git_has_its_values_there(secret, holds):
    """Base64 hides nothing; what is public or stands for a value is none."""
    assert bool(list(of_secret(secret))) == holds


class Lost:
    """A set of patterns that has run out of memory."""

    def Match(self, _data: bytes) -> list[int]:
        """Return nothing, whatever there is."""
        return []


def test_hints_that_cannot_be_told_apart_hide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the set of all hints runs out of memory, each shape is looked for."""
    texts = [f"token: {shape}" for shape in SHAPES.values()]
    before = [list(shapes.shapes_in(text)) for text in texts]
    monkeypatch.setattr(shapes, "apart", Lost)
    assert [list(shapes.shapes_in(text)) for text in texts] == before
    assert sum(map(bool, before)) > len(before) // 2
