"""What people write in the README and in docs/ stays short and plain, as far as a test can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from conftest import ROOT

GENERATED = {"cli.md", "rules.md", "storage.md", "decisions/README.md"}
"""Pages that `make docs` writes, beside reference/."""

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted(DOCS.glob("*.md")) if page.name not in GENERATED),
    *(page for page in sorted(DOCS.glob("decisions/*.md")) if page.name != "README.md"),
]

LONGEST_SENTENCE, MEDIAN_SENTENCE = 36, 16
"""Words of a sentence, on any page: the longest one, and the median."""

LONGEST_PAGE = 2_000
"""Words of a page beside its blocks of code."""

OPENING = 10
"""Lines within which a page answers its question, by a command, a file or a table."""

README_LINES, README_WORDS = 140, 720

CODE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
WRITTEN = re.compile(r"^<!-- [\w ]+: written by .*?^<!-- end of", re.MULTILINE | re.DOTALL)
"""A table in a page that a tool writes."""

LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
INLINE = re.compile(r"`[^`\n]*`")
END = re.compile(r"(?<=[.!?;:])[)*_\"]*\s+(?=[A-Z0-9`*\"(])|\n\s*\n")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +", re.MULTILINE)

PRIVATE = {
    phrase: re.compile(pattern, re.IGNORECASE)
    for phrase, pattern in {
        "stands against": r"\bstands? against\b",
        "is told": r"\b(?:is|are|was|were|be) told\b(?! to\b)",
        "is asked for": r"\b(?:is|are) asked for\b",
        "say fabric": r"\bsay `?fabric`?\b",
        "subject 'what it'": r"(?:^|[.;:] )What (?:it|is|a|the) \w+",
        "subject 'that which'": r"\bthat which\b",
        "nobody's": r"\bnobody's\b",
        "anybody's run": r"\banybody's run\b",
        "mend": r"\bmend(?:s|ed|ing)?\b",
        "for want of": r"\bfor want of\b",
        "by intent": r"\bby intent\b",
        "is no": r"\b(?:is|are) no (?:kind|way|verdict|error|machine|part)\b",
        "peculiar to": r"\bpeculiar to\b",
        "made anew": r"\banew\b",
        "tells of": r"\btells? of\b",
        "whatever it": r"\bwhatever it\b",
        "wants": r"\bit wants\b",
    }.items()
}
"""Words that this project once used in a sense of its own, by what to look for."""


def prose(page: Path) -> str:
    """Return the text of a page without code, tables, headings and targets of links."""
    text = CODE.sub("\n", page.read_text("utf-8"))
    kept = (line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", "<")))
    return ITEM.sub("\n\n", INLINE.sub("Code", LINK.sub(r"\1", "\n".join(kept))))


def sentences(page: Path) -> Iterator[str]:
    """Yield the sentences of a page; what follows with a small letter belongs to the one before."""
    yield from (" ".join(text.split()) for text in END.split(prose(page)) if text and text.strip())


def words(text: str) -> int:
    """Return the number of words of a text."""
    return len(text.split())


def name(page: Path) -> str:
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_sentences_are_short(page: Path) -> None:
    """Half of a page's sentences have at most 16 words, and none has more than 36."""
    lengths = {sentence: words(sentence) for sentence in sentences(page)}
    assert [text for text, count in lengths.items() if count > LONGEST_SENTENCE] == []
    assert median(lengths.values()) <= MEDIAN_SENTENCE


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_phrase_has_a_private_sense(page: Path) -> None:
    """Who knows Kubernetes and not this project understands the words."""
    text = " ".join(prose(page).split())
    assert [found[0] for pattern in PRIVATE.values() for found in pattern.finditer(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_are_not_too_long(page: Path) -> None:
    """A page answers one question, so it ends before a reader gives up."""
    assert words(WRITTEN.sub("", CODE.sub("", page.read_text("utf-8")))) <= LONGEST_PAGE


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent == DOCS], ids=name)
def test_pages_open_with_an_example(page: Path) -> None:
    """The first lines show a command, a file or a table."""
    opening = page.read_text("utf-8").splitlines()[:OPENING]
    assert [line for line in opening if line.startswith(("```", "|"))]


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "decisions"], ids=name)
def test_decisions_have_three_parts(page: Path) -> None:
    """Each says why, what and at which price, in this order."""
    parts = re.findall(r"^\*\*(Context|Decision|What we gave up)\.\*\*", page.read_text("utf-8"), re.MULTILINE)
    assert parts == ["Context", "Decision", "What we gave up"]


def test_the_changelog_is_short() -> None:
    """What changes for users fits 80 lines of 300 characters; the pages that it names say more."""
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    assert len(lines) <= 80
    assert [line for line in lines if len(line) > 300] == []


def test_the_readme_fits_two_screens() -> None:
    """It is short, and its picture and its finding come before the first job."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= README_LINES
    assert words(text) <= README_WORDS
    picture = re.search(r"^!\[[^\]]+\]\((docs/pictures/[\w.]+\.svg)\)$", text, re.MULTILINE)
    assert picture
    assert (ROOT / picture[1]).is_file()
    assert picture.start() < text.index("```console") < text.index("```yaml")


SLIPS = {
    "a long sentence": ("One " + "word " * 40 + "end.", 42),
    "two sentences": ("One two. Three four five.", 3),
    "code counts as one word": ("Run `trainyard plan --svg pictures` now.", 3),
    "a link counts by its words": ("See [a page](https://example.com/a b).", 3),
    "an item ends a sentence": ("One two three:\n\n- four five\n- six", 3),
}


@pytest.mark.parametrize(("text", "longest"), SLIPS.values(), ids=SLIPS)
def test_sentences_are_counted_as_a_reader_does(tmp_path: Path, text: str, longest: int) -> None:
    """Code, links and lists do not hide a long sentence, nor make one."""
    (page := tmp_path / "page.md").write_text(text)
    assert max(words(sentence) for sentence in sentences(page)) == longest
