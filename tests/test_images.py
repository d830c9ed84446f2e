"""Image references are read as container runtimes read them, by specs, tenants' lines, policies and CEL alike."""

from __future__ import annotations

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from conftest import ROOT
from trainyard.base import images
from trainyard.base.images import condition, explain, fault, is_of_registry, is_pinned
from trainyard.specs.models.base import Image
from trainyard.upstream.apiserver.cel import STRING, Environment

HEX = "4f0c7e2ab95d8136" * 4
END = f"@sha256:{HEX}"

RIGHT = {
    "a registry and a repository": f"registry.example.com/nlp/llm{END}",
    "a port": f"registry.example.com:5000/llm{END}",
    "a tag before the digest": f"registry.example.com/llm:v1.2_x{END}",
    "the longest tag": f"registry.example.com/llm:{'t' * 128}{END}",
    "an address": f"127.0.0.1:5000/llm{END}",
    "an address of IPv6": f"[2001:db8::1]:5000/llm{END}",
    "a host in capitals": f"Registry.example.com/llm{END}",
    "separators": f"registry.example.com/a.b/c_d/e__f/g---h{END}",
    "the machine itself": f"localhost/llm{END}",
    "a short name of Docker's": f"nlp/llm{END}",
    "the library's": f"docker.io/library/python{END}",
    "the longest name": f"registry.example.com/{'a' * 234}{END}",
}
WRONG = {
    "the folder above": (f"registry.example.com/../evil{END}", "no node can pull"),
    "the folder itself": (f"registry.example.com/./llm{END}", "no node can pull"),
    "an empty part": (f"registry.example.com//llm{END}", "no node can pull"),
    "an empty part at the end": (f"registry.example.com/llm/{END}", "no node can pull"),
    "a repository in capitals": (f"registry.example.com/LLM{END}", "no node can pull"),
    "two dots": (f"registry.example.com/a..b{END}", "no node can pull"),
    "three underscores": (f"registry.example.com/a___b{END}", "no node can pull"),
    "a separator at the end": (f"registry.example.com/llm-{END}", "no node can pull"),
    "a user": (f"registry.example.com@evil.example.net/llm{END}", "no node can pull"),
    "two digests": (f"registry.example.com/llm{END}{END}", "no node can pull"),
    "a scheme": (f"https://registry.example.com/llm{END}", "no node can pull"),
    "an escape": (f"registry.example.com/%2e%2e/llm{END}", "no node can pull"),
    "a question": (f"registry.example.com/llm?x=y{END}", "no node can pull"),
    "a space": (f"registry.example.com/llm {END}", "no node can pull"),
    "a port that is none": (f"registry.example.com:port/llm{END}", "no node can pull"),
    "an empty tag": (f"registry.example.com/llm:{END}", "no node can pull"),
    "a tag that is too long": (f"registry.example.com/llm:{'t' * 129}{END}", "no node can pull"),
    "an address without brackets": (f"2001:db8::1/llm{END}", "no node can pull"),
    "a line after it": (f"registry.example.com/llm{END}\n", "64 lower case hex digits"),
    "letters of another alphabet": (f"registry.example.com/\u0430{END}", "no node can pull"),
    "no digest": ("registry.example.com/llm", "is not named by digest"),
    "a tag alone": ("registry.example.com/llm:v1", "is not named by digest"),
    "a digest that is too short": (f"registry.example.com/llm{END[:-1]}", "64 lower case hex digits"),
    "a digest that is too long": (f"registry.example.com/llm{END}a", "64 lower case hex digits"),
    "a digest in capitals": (f"registry.example.com/llm@sha256:{HEX.upper()}", "64 lower case hex digits"),
    "another algorithm": (f"registry.example.com/llm@sha512:{HEX * 2}", "64 lower case hex digits"),
    "no algorithm": (f"registry.example.com/llm@{HEX}", "64 lower case hex digits"),
    "a name that is too long": (f"registry.example.com/{'a' * 235}{END}", "more than 255 characters"),
    "a text without end": ("a/" * 100_000, "more than 255 characters"),
    "nothing": ("", "no node can pull"),
}


def by_cel(text: str) -> bool:
    """Return the verdict of the condition that policies have."""
    return bool(Environment({"x": STRING}, minor=35).compile(condition("x")).evaluate({"x": text}))


@pytest.mark.parametrize("case", RIGHT)
def test_names_that_runtimes_take_are_right(case: str) -> None:
    """By each reader of the grammar; a spec wants a registry or an organisation before the name."""
    text = RIGHT[case]
    assert fault(text) is None
    assert is_pinned(text)
    assert by_cel(text)
    assert TypeAdapter(Image).validate_python(text) == text


@pytest.mark.parametrize("case", WRONG)
def test_names_that_no_runtime_takes_are_refused(case: str) -> None:
    """By each reader of the grammar, with a message that says what is wrong."""
    text, said = WRONG[case]
    assert said in (fault(text) or "")
    assert not is_pinned(text)
    assert not by_cel(text)
    with pytest.raises(ValidationError):
        TypeAdapter(Image).validate_python(text)


@pytest.mark.parametrize("value", [None, 1, [], {}])
def test_what_is_no_text_is_no_image(value: object) -> None:
    """Files in the tree may hold whatever somebody wrote."""
    assert fault(value) is not None
    assert not is_pinned(value)
    assert not is_of_registry(value, ["x"])


REGISTRIES = {
    "a host that goes on": ("registry.example.com.evil.example.net/x", False),
    "a user before the host": ("registry.example.com@evil.example.net/x", False),
    "another port": ("registry.example.com:443/x", False),
    "capitals": ("REGISTRY.example.com/x", False),
    "the host alone": ("registry.example.com", False),
    "a repository in it": ("registry.example.com/x", True),
    "a path that begins alike": ("mirror.example.com/teams/x", False),
    "a path in another": ("mirror.example.com/team/x", True),
}


@pytest.mark.parametrize("case", REGISTRIES)
def test_a_registry_is_a_whole_host_or_path(case: str) -> None:
    """A name that begins alike is another registry's."""
    text, known = REGISTRIES[case]
    assert is_of_registry(text, ("registry.example.com", "mirror.example.com/team/")) == known


def test_the_policy_has_the_same_grammar() -> None:
    """A policy is a file of its own, which the cluster reads."""
    policy = yaml.safe_load((ROOT / "policies" / "sec-digest.yaml").read_text())["spec"]
    texts = {variable["name"]: variable["expression"] for variable in policy["variables"]}
    assert texts["pinned"] == images.quote_pattern(f"^(?:{images.PINNED})$")
    assert texts["repository"] == images.quote_pattern(f"^{images.NAME}")
    for validation in policy["validations"]:
        assert f"<= {images.LONGEST} " in validation["expression"]
        assert f"<= {images.LONGEST_NAME})" in validation["expression"]


HEX = "4f0c7e2ab95d8136" * 4
HOST = "registry.example.com"
FAULTS = {
    "a tag": (f"{HOST}/nlp/llm:v1", "has tag 'v1' and no digest", ":v1"),
    "nothing behind the name": (f"{HOST}/nlp/llm", "has no digest", f"{HOST}/nlp/llm"),
    "a port and no digest": ("host:5000/llm", "has no digest", "host:5000/llm"),
    "half of a digest": (f"{HOST}/llm@sha256:{HEX[:16]}", "has a digest of 16 digits, but sha256 has 64", HEX[:16]),
    "no digits": (f"{HOST}/llm@sha256:", "has a digest of 0 digits", "@sha256:"),
    "a digest in capitals": (f"{HOST}/llm@sha256:{HEX.upper()}", "has upper case in its digest", HEX.upper()),
    "a letter in the digest": (f"{HOST}/llm@sha256:{HEX[:-1]}g", "has 'g' in its digest", f"{HEX[:-1]}g"),
    "another algorithm": (f"{HOST}/llm@md5:ab", "has a digest that does not begin with sha256:", "@md5:ab"),
    "capitals in the name": (f"{HOST}/nlp/LLM@sha256:{HEX}", "has upper case in 'LLM'", "LLM"),
    "a blank": (f"{HOST}/llm @sha256:{HEX}", "has a space", f"@sha256:{HEX}"),
    "a scheme": (f"https://{HOST}/llm@sha256:{HEX}", "begins with https://", f"https://{HOST}/llm@sha256:{HEX}"),
    "no registry": (f"llm@sha256:{HEX}", "has no registry; write registry/llm", "llm"),
    "a registry that is no host": (f"my_host/llm:1.0@sha256:{'0' * 63}", "has a digest of 63 digits", "0" * 63),
    "two dots": (f"{HOST}/nlp..x/llm@sha256:{HEX}", "has 'nlp..x' in its path", "nlp..x"),
}


@pytest.mark.parametrize(("text", "said", "part"), FAULTS.values(), ids=FAULTS)
def test_a_job_is_told_which_part_of_its_image_is_wrong(text: str, said: str, part: str) -> None:
    """One sentence for all of them would leave people to compare 90 characters."""
    assert not is_pinned(text) or "/" not in text
    message, at = explain(text)
    assert message.startswith(said)
    assert at == part
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Image).validate_python(text)
    assert message in str(refused.value)
