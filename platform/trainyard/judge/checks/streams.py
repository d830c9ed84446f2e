"""Judges a stream of any length, some documents at a time: what was judged is forgotten with its findings.

Objects come in order, as a server gets them: what an object means for others, as a CRD does, counts for those behind
it. Objects of such kinds are kept and no others, so that copies are not looked for. Policies in Python look at one
object at a time, with those that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainyard.base.documents.pieces import Piece, Read, pieces
from trainyard.base.findings import Finding
from trainyard.base.manifests import Manifest
from trainyard.judge.checks import sorting, validate
from trainyard.judge.checks.parallel import move_documents
from trainyard.judge.checks.result import Outcome, Result
from trainyard.upstream.apiserver import Judge, Judgement, aware
from trainyard.upstream.apiserver.neighbours import POLICY, SHAPING

if TYPE_CHECKING:
    from trainyard.judge.policies.policy import Policy


@dataclass
class Stream:
    """A stream that is judged, and what counts for the objects that are still to come."""

    name: str
    read: Read
    judge: Judge
    policies: Sequence[Policy] = ()
    others: Sequence[Manifest] = ()
    """Objects of other inputs that mean something for those of the stream."""
    kept: list[Judgement] = field(default_factory=list)
    """The verdicts on objects of the stream and of others that mean something for those that follow."""
    documents: int = 0

    def results(self) -> Iterator[Result]:
        """Yield the findings and verdicts of one piece of the stream after another."""
        first = self.judge
        if self.others:
            self.judge = aware(first, [manifest.value for manifest in self.others])
            self.kept += map(self.judge.judge, self.others)
        for piece in pieces(self.read):
            found = sorting.of_piece(self.name, piece)
            result = Result(findings=found.findings, passed=found.passed, others=found.other_files(self.name))
            before = [kept.manifest for kept in self.kept]
            shaping = [manifest for manifest in found.manifests if manifest.kind in SHAPING]
            if shaping:
                self.judge = aware(first, [manifest.value for manifest in (*before, *shaping)])
            judgements = [self.judge.judge(manifest) for manifest in found.manifests]
            self.kept += [judgement for judgement in judgements if judgement.manifest.kind in SHAPING]
            validate.collect(result, judgements, self.admission(judgements, piece))
            for manifest in found.manifests if self.policies else ():
                self.ask(manifest, before, result)
            result.hide()
            yield move_documents(result, self.documents)
            self.documents += found.documents
        self.judge.rulebook.keep()

    def admission(self, judgements: Sequence[Judgement], piece: Piece) -> Outcome:
        """Return the findings and verdicts of admission policies of the stream so far on the objects of a piece."""
        if not any(kept.manifest.kind == POLICY for kept in self.kept):
            return Outcome()
        here = {id(judgement) for judgement in judgements}
        others = [kept for kept in self.kept if id(kept) not in here]
        outcome = validate.run_admission([*others, *judgements], self.judge.catalog)
        outcome.findings = [finding for finding in outcome.findings if is_in(finding, self.name, piece)]
        return outcome

    def ask(self, manifest: Manifest, before: Sequence[Manifest], result: Result) -> None:
        """Add what policies in Python find in an object; what those before it are was said there."""
        asked = Result()
        others = [other for other in before if other is not manifest]
        validate.ask(self.policies, [*others, manifest], asked, whole=False)
        at = manifest.document.location().line or 1
        asked.findings = [
            finding
            for finding in asked.findings
            if finding.location.file == self.name and (finding.location.line or at) >= at
        ]
        result.extend(asked)


def is_in(finding: Finding, name: str, piece: Piece) -> bool:
    """Say whether a finding is about a piece of a stream, and not about what came before."""
    return finding.location.file == name and (finding.location.line or piece.line) >= piece.line
