"""Comments in specs that would ignore a rule: there only `waive` does, whose reasons a review sees."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents.comments import COMMENT, IGNORE, SEEN, WORD, read_part
from trainyard.base.documents.positions import BOM
from trainyard.base.findings import Finding, Location, Severity, did_you_mean
from trainyard.base.system import reads
from trainyard.base.system.repository import cluster_file
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded
from trainyard.specs.sources import Source


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield the comments of specs that look as if they ignored a rule."""
    for job in (*loaded.specs.jobs, *loaded.rest):
        with reads.about(job.source.file):
            yield from in_spec(job.source, "write waive: {%s: REASON}")
    with reads.apart():  # what is found in a file is looked for each time
        sources, extras = list(loaded.specs.sources.values()), list(loaded.specs.extra)
    for source in sources:
        yield from in_spec(source, "write waive: {%s: REASON}")
    for extra in extras:
        yield from in_spec(extra.source, f"write waive: {{%s: REASON}} in {cluster_file(extra.cluster)}")


def in_spec(source: Source, remedy: str) -> Iterator[Finding]:
    """Yield the comments of one spec; `remedy` has a place for the rule."""
    text = source.document.text if source.document is not None else None
    if source.document is None or text is None or not SEEN.search(text):
        return
    part = read_part(text.removeprefix(BOM).decode("utf-8", "replace"), source.document.first_line)
    if part is None:
        return
    for match in part.comments(COMMENT):
        if match["word"] == WORD or did_you_mean(match["word"], [WORD]).startswith("did"):
            rule = match["rest"].partition(":")[0].strip() or "RULE"
            message = f"a comment ignores nothing in this file; {remedy % rule}"
            yield IGNORE.of(Location(source.file, *part.place(match.start())), message, severity=Severity.WARNING)
