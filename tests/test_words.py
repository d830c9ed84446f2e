"""Findings and rules are in plain words: short sentences, no private phrases, and a fix that says what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from typer.main import get_command

from conftest import ROOT
from sources import beneath, trees
from trainyard.base import catalogue
from trainyard.base.documents import load
from trainyard.base.system.data import policy_files
from trainyard.faces.cli import build, commands
from trainyard.specs import Cluster, Job, Repository, Spec, Team
from trainyard.specs.models.base import docstrings

WORDS_OF_A_SENTENCE = 25
WORDS_OF_A_MESSAGE = 20
WORDS_TO_A_STOP = 30

PRIVATE = (
    "stands against",
    "is told",
    "is asked for",
    "are asked for",
    "asked for by",
    "say fabric",
    "nobody says",
    "somebody says",
    "mend the",
    "is no kind that",
    "that which",
)
"""Phrases that only people who know this project understand; each has a plain word."""

UNCLEAR = {
    phrase: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for phrase, pattern in {
        "ask for": r"(?:ask|asks|asked|asking) for",
        "told": r"(?:is|are|be|not) told|tells?",
        "pass over": r"pass(?:es|ed)? over",
        "past the quota": r"past (?:the|every|any) quota",
        "leave out": r"lea(?:ve|ves|ving|ft) (?:\w+ )?out",
        "say so": r"says? so",
        "make it so": r"(?:make|call) it so",
        "go on with": r"go(?:es)? on with",
        "somebody": r"somebody(?:'s)?|anybody(?:'s)?|nobody(?:'s)?",
        "whatever": r"whatever",
        "by itself": r"by itself",
        "is of": r"(?:is|are) of (?:the|a|one|no)",
        "for want of": r"for want of",
        "anew": r"anew",
        "stand": r"stands? (?:on|at|in|still|beside)",
        "none that": r"(?:is|are) none that",
        "what is not": r"what (?:is|has|a|it|they|the) ",
        "be there": r"that (?:is|are) there",
    }.items()
}
"""What pages and messages of policies say in other words, by the word that a reader would stumble over."""

UPSTREAM = ("upstream/kueue/", "upstream/kubelet/")
"""Packages whose long texts are Kueue's and the kubelet's own, word by word."""

SERVER = "upstream/apiserver/"
"""The package whose rules and details `trainyard` says in its own words."""

NAMES = ("mpirun", "pfNames")
"""Names that begin with a small letter, with which a sentence may begin."""

MAKERS = frozenset({"at", "of", "Breach", "Problem"})
"""What is called with a message."""

DETAILS = frozenset({"Fault", "forbidden", "invalid", "missing", "required"})
"""What is called with the reason of a problem, from which a sentence is made."""

RIDDLES = re.compile(
    r"\b(?:told|tells|asks|asked|holds|stands?|speaks?|whoever|nobody|judged?)\b|\bwhat (?:is|it|a|the)\b"
)
"""Words that the rules and the reasons of the API server need not."""

ENTRIES = catalogue.entries(ROOT)
POLICIES = {path.name: catalogue.policy(path) for path in policy_files(ROOT)}
FIX = re.compile(r"[a-z]")
NUMERAL = re.compile(r"\w+ one (?!(?:or|such)\b)[a-zA-Z]")
"""A fix in which `one` counts something, such as `set one source`."""
SHIPPED = {path.stem for path in policy_files(ROOT) if path.suffix == ".yaml"}
"""Policies that run in clusters too, whose text changes only together with generated/."""
NO_VERBS = frozenset(
    {"a", "an", "the", "this", "that", "it", "its", "one", "what", "which", "who", "nothing", "nobody", "there", "no"}
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a semicolon or a colon ends one too."""
    return [part for part in re.split(r"(?<=[.;:])\s+", text) if part]


def template(node: ast.expr) -> str | None:
    """Return a text of the code, with `{}` for each value in it; None for another expression."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def messages(tree: ast.AST, makers: frozenset[str] = MAKERS) -> Iterator[str]:
    """Yield the template of every text of a module that is a message: of a finding, or of a problem of a policy.

    `makers` are the functions that are called with a message.
    """
    for node in beneath(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Assign) and any(
            getattr(target, "id", "") in ("detail", "message") for target in node.targets
        ):
            values = [node.value]
        if isinstance(node, ast.Call) and {getattr(node.func, key, "") for key in ("attr", "id")} & makers:
            values = node.args
        yield from (text for text in map(template, values) if text is not None and " " in text)


def cel_messages() -> Iterator[tuple[str, str]]:
    """Yield the file and the text of every message of a policy in CEL."""
    for path in (path for path in policy_files(ROOT) if path.suffix == ".yaml"):
        for document in load(path.read_bytes(), file=path.name)[0]:
            for validation in document.value["spec"]["validations"]:
                yield f"policies/{path.name}", validation["message"]


OF_SERVER = {id_: entry for id_, entry in ENTRIES.items() if any(".upstream." in name for name in entry.declared)}


def test_sentences_of_a_rule_are_short() -> None:
    """No sentence of a rule's title, why or fix has more than 25 words."""
    long = {
        id_: sentence
        for id_, entry in ENTRIES.items()
        for text in (entry.rule.title, entry.rule.why, entry.rule.fix)
        for sentence in sentences(text)
        if len(sentence.split()) > WORDS_OF_A_SENTENCE
    }
    assert long == {}


def test_a_rule_has_no_private_phrase() -> None:
    """A rule is read by people who do not know how this project speaks."""
    private = {
        id_: phrase
        for id_, entry in ENTRIES.items()
        for phrase in PRIVATE
        if phrase in f"{entry.rule.title} {entry.rule.why} {entry.rule.fix}"
    }
    assert private == {}


def test_a_fix_says_what_to_do() -> None:
    """A fix begins with a verb or a field, not with a pronoun or an article."""
    fixes = {id_: entry.rule.fix for id_, entry in ENTRIES.items() if entry.rule.fix}
    assert {id_: fix for id_, fix in fixes.items() if not FIX.match(fix) or fix.split()[0] in NO_VERBS} == {}


def test_a_fix_says_more_than_the_message() -> None:
    """A fix that only points to the message leaves a reader where he was."""
    empty = re.compile(r"(?!.*\bline\b)(?:correct|restore|change)(?: or \w+)? (?:the|a) [\w' ]+ in the message$")
    assert {id_: entry.rule.fix for id_, entry in ENTRIES.items() if empty.match(entry.rule.fix or "")} == {}


def test_a_fix_names_its_object() -> None:
    """A fix is read alone, in reports and on rule pages, so its first verb has a noun and no pronoun."""
    pronoun = re.compile(r"\w+ (?:it|them|one)(?:[;,. ](?!of\b|use\b)|$)")
    ours = {id_: entry.rule.fix or "" for id_, entry in ENTRIES.items() if f"{id_}" not in SHIPPED}
    assert {id_: fix for id_, fix in ours.items() if pronoun.match(fix) and not NUMERAL.match(fix)} == {}


def test_messages_say_must() -> None:
    """What a field has to be is said with one word, in specs and by the API server."""
    should = re.compile(r"\bshould (?:be|have|not|contain|begin|match)\b")
    mine = [
        (file, text)
        for file, text in (*said().messages, *said().texts, *said().reasons)
        if not file.startswith(UPSTREAM)
    ]
    assert [(file, text) for file, text in mine if should.search(text)] == []


def test_messages_are_found() -> None:
    """The texts of findings are found in the code, those of every wing."""
    assert len(said().messages) > 500
    assert {file.partition("/")[0] for file, _ in said().messages} >= {"specs", "render", "judge", "change"}


def test_messages_are_short() -> None:
    """No message of a finding has more than 20 words, a value counted as one; texts of upstream stay as they are."""
    long = [
        (file, text)
        for file, text in said().messages
        if not file.startswith(UPSTREAM) and len(text.split()) > WORDS_OF_A_MESSAGE
    ]
    assert long == []


def test_messages_have_no_private_phrase() -> None:
    """No message of a finding uses a phrase that only this project understands."""
    assert [(file, text) for file, text in said().messages for phrase in PRIVATE if phrase in text] == []


def test_messages_are_no_sentences_with_an_end() -> None:
    """A message has no full stop at its end."""
    assert [(file, text) for file, text in said().messages if re.search(r"[a-z]\.$", text)] == []


def test_pages_of_policies_have_short_sentences() -> None:
    """A policy's title, why and fix have at most 20 words up to a colon or semicolon, and 30 up to a full stop."""
    long = {
        (file, part)
        for file, rule in POLICIES.items()
        for text in (rule.title, rule.why, rule.fix)
        for parts, most in ((sentences(text), WORDS_OF_A_MESSAGE), (re.split(r"(?<=[.])\s+", text), WORDS_TO_A_STOP))
        for part in parts
        if len(part.split()) > most
    }
    assert long == set()


def test_pages_of_policies_have_no_unclear_word() -> None:
    """Who knows Kubernetes and Kueue, and not this project, understands each word of a policy's page."""
    found = {
        (file, phrase)
        for file, rule in POLICIES.items()
        for phrase, pattern in UNCLEAR.items()
        if pattern.search(f"{rule.title} {rule.why} {rule.fix}")
    }
    assert found == set()


def test_messages_of_policies_have_no_unclear_word() -> None:
    """Neither does a message of a policy, in Python or in CEL."""
    of_policies = [(file, text) for file, text in said().messages if file.startswith("policies/")]
    assert {file for file, _ in of_policies} == {f"policies/{file}" for file in POLICIES}
    assert [(file, text) for file, text in of_policies for pattern in UNCLEAR.values() if pattern.search(text)] == []


def test_a_reason_begins_with_a_capital_letter() -> None:
    """A policy's why is several sentences, so its first one begins as the others do."""
    assert [file for file, rule in POLICIES.items() if rule.why[:1].islower() and not rule.why.startswith(NAMES)] == []


def test_rules_of_the_server_are_all_there() -> None:
    """Rules and reasons of the API server's checks are found."""
    assert len(OF_SERVER) > 250
    assert len(said().reasons) > 500


def test_a_rule_of_the_server_has_a_title_of_its_own() -> None:
    """No two rules of the API server have one title."""
    titles = [entry.rule.title for entry in OF_SERVER.values()]
    assert sorted(titles) == sorted(set(titles))


def test_a_rule_of_the_server_is_short_and_plain() -> None:
    """No sentence of it has more than 20 words, and none needs a riddle."""
    texts = [
        (id_, sentence)
        for id_, entry in OF_SERVER.items()
        for text in (entry.rule.title, entry.rule.why, entry.rule.fix)
        for sentence in sentences(text)
    ]
    assert [(id_, text) for id_, text in texts if len(text.split()) > WORDS_OF_A_MESSAGE or RIDDLES.search(text)] == []


def test_a_reason_of_the_server_is_short_and_plain() -> None:
    """The reason that follows a field's name has at most 20 words, no riddle and no full stop."""
    assert [(file, text) for file, text in said().reasons if len(text.split()) > WORDS_OF_A_MESSAGE] == []
    assert [(file, text) for file, text in said().reasons if RIDDLES.search(text) or re.search(r"[a-z]\.$", text)] == []


def repeated(tree: ast.AST) -> Iterator[str]:
    """Yield the reasons of the API server that begin with the field's own name, which the message has already."""
    for node in beneath(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in DETAILS or not node.args:
            continue
        steps = getattr(node.args[0], "elts", ())
        last = steps[-1] if steps else None
        name = last.value if isinstance(last, ast.Constant) else None
        for text in filter(None, map(template, node.args[1:])):
            if isinstance(name, str) and re.match(rf"{name} (?:must|cannot|is|are|may)\b", text):
                yield text


def test_a_reason_of_the_server_does_not_repeat_the_field() -> None:
    """The sentence begins with the field, so its reason need not."""
    assert said().repeated == []


OURS = ("base/", "specs/", "render/", "judge/", "change/", "faces/")
"""Wings whose texts are all ours."""

SPOKEN = re.compile(
    r"\b(?:stands? against|(?:is|are|was|were) told(?! to)|asked for by|nobody says|somebody says|since nobody"
    r"|(?:is|are) no (?:kind|key|list|map|text|number|object|part|role|file|folder|commit|word)|are judged|is judged"
    r"|say fabric|that which|mend|comes? out|judged for|thereof|anew|for want of|makes it no more|a second time, beside"
    r"|by intent|takes no thought|it wants|on the other side)\b"
)
"""Phrases in a private sense, in any text that a user can read."""

CODE = re.compile(
    r"&&|\|\||==|\.all\(|\.exists\(|\$\{|\$\(|\\n|\n|<\w+|^\s*[#!/\[(^?]|function\(|; do\b|; then\b|\\[bwdsS]"
)
"""Marks of shell, CEL, expressions, markup and patterns, which are no sentences."""

HEAD_OF_A_FIELD = re.compile(r"(?:What|That|Who|One|It|Its|Such as|None|Said|Told|Default)\b")


def spoken(tree: ast.AST) -> Iterator[str]:
    """Yield the template of every text of a module that reads as words; docstrings are not among them."""
    nodes = list(beneath(tree))
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    silent |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        text = template(node) if isinstance(node, ast.expr) and id(node) not in silent else None
        if text is not None and len(text.split()) > 3 and not CODE.search(text):
            yield text


@dataclass(frozen=True)
class Said:
    """What the code says, as pairs of file and text, sorted."""

    messages: list[tuple[str, str]]
    reasons: list[tuple[str, str]]
    repeated: list[tuple[str, str]]
    texts: list[tuple[str, str]]


@cache
def said() -> Said:
    """Read every module once."""
    messages_of, reasons_of, repeated_of, texts_of = set(cel_messages()), set(), set(), set()
    for path, tree in trees("platform/trainyard", "policies"):
        file = path.removeprefix("platform/trainyard/")
        messages_of |= {(file, text) for text in messages(tree)}
        if file.startswith(SERVER):
            reasons_of |= {(file, text) for text in messages(tree, DETAILS)}
            repeated_of |= {(file, text) for text in repeated(tree)}
        if file.startswith(OURS):
            texts_of |= {(file, text) for text in spoken(tree)}
    return Said(sorted(messages_of), sorted(reasons_of), sorted(repeated_of), sorted(texts_of))


def models(annotation: Any) -> Iterator[type[Spec]]:
    """Yield a model and those below it, by the types of its fields."""
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    else:
        for inner in getattr(annotation, "__args__", ()):
            yield from models(inner)


def leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for key in sorted(inner or {}):
        yield from leaves(f"{name} {key}", inner[key])


@cache
def fields() -> dict[str, str]:
    """Return the description of every field of our specs, by model and name."""
    found = {model for spec in (Cluster, Job, Repository, Team) for model in models(spec)}
    return {
        f"{model.__name__}.{field}": " ".join(text.split())
        for model in sorted(found, key=lambda model: model.__name__)
        for field, text in docstrings(model)
    }


@cache
def helps() -> dict[str, str]:
    """Return the text of every command and option, by its name."""
    found = {}
    for name, command in leaves("trainyard", get_command(build(commands()))):
        found[name] = str(command.help).partition("\b")[0]
        found |= {f"{name} {option.name}": text for option in command.params if (text := getattr(option, "help", ""))}
    return {name: " ".join(text.split()) for name, text in found.items()}


def test_texts_are_found() -> None:
    """Texts of all our wings are read, and so are the fields of all specs and the options of all commands."""
    assert len(said().texts) > 1500
    assert {file.partition("/")[0] + "/" for file, _ in said().texts} == {*OURS}
    assert {"Job.gpus_per_node", "Fabric.vlans", "Shape.numa", "Window.schedule"} <= fields().keys()
    assert {"trainyard plan", "trainyard check fix", "trainyard new job cluster"} <= helps().keys()


def test_no_text_has_a_private_phrase() -> None:
    """What a command prints, an origin or a verdict too, is in words that everybody knows."""
    assert [(file, found[0], text) for file, text in said().texts for found in SPOKEN.finditer(text)] == []


FORMER = (
    "once synth refuses",
    "would train on",
    "of generated/ at hand",
    "runs that train now stay",
    "left as they are at the base",
    "let sizes follow",
    "stops what lacks",
    "which the job has not",
    "is not retired at the base",
    "write a job for what should",
    "which base64 does not hide",
    "programs of this branch count: read it",
    "only of a whole cluster",
    "write it in that form",
    "nodes lost",
)
"""Parts of sentences that stopped a reader, and were written again."""


def test_no_text_says_a_former_sentence() -> None:
    """None of them comes back in a message, a help or an origin of a value."""
    everything = [*said().texts, *said().messages, *helps().items()]
    assert [(where, part) for where, text in everything for part in FORMER if part in text] == []


def test_texts_have_short_sentences() -> None:
    """No sentence that a command prints has more than 25 words, a value counted as one."""
    long = [
        (file, part)
        for file, text in said().texts
        for part in sentences(text)
        if len(part.split()) > WORDS_OF_A_SENTENCE
    ]
    assert long == []


def unclear(text: str) -> bool:
    """Whether a description has a long sentence or a private phrase, or no full stop at its end."""
    long = max(len(part.split()) for part in sentences(text)) > WORDS_OF_A_SENTENCE
    return long or not text.endswith(".") or bool(SPOKEN.search(text))


def test_a_field_is_described_by_a_noun() -> None:
    """A description begins with the thing that the field sets, ends with a full stop, and is short."""
    assert {field: text for field, text in fields().items() if unclear(text)} == {}
    heads = {field: text for field, text in fields().items() if not re.match(r"[A-Z`]", text)}
    assert heads | {field: text for field, text in fields().items() if HEAD_OF_A_FIELD.match(text)} == {}


def test_a_help_is_a_sentence() -> None:
    """The help of a command or an option is short and ends with a full stop."""
    assert {name: text for name, text in helps().items() if unclear(text) or not re.match(r"[A-Z0-9]", text)} == {}


SLIPS = {
    "told": "its runs are told as generated/ has them",
    "no kind": "this is no file of ours",
    "nobody says": "1000, since nobody says another",
}


@pytest.mark.parametrize("text", SLIPS.values(), ids=SLIPS)
def test_a_private_phrase_is_found(text: str) -> None:
    """The patterns see the phrases that they are for."""
    assert SPOKEN.search(text)
