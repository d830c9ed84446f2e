"""What the rules of a definition may cost: a server refuses those that could keep it busy, before there is any object.

A rule counts as often as lists and maps around it may hold what it looks at.
Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go, cel_validation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from trainyard.upstream.apiserver.cel import CompileError, Environment
from trainyard.upstream.apiserver.cel.cost import Shape, shape, times
from trainyard.upstream.apiserver.core.apiextensions.bounds import Around, advice
from trainyard.upstream.apiserver.core.shapes import Object
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

COST = Rule(
    "core/crd-cost",
    "k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go getExpressionCost",
    title="The CEL rules of a CRD stay within the API server's cost limits.",
    fix="set maxItems, maxProperties or maxLength where the message says, or simplify the rule",
)
OF_RULE, OF_DEFINITION = 10_000_000, 100_000_000
"""What one rule, and all of one version together, may cost (StaticEstimatedCostLimit, StaticEstimatedCRDCostLimit)."""
_OVER = 100
"""How many times too much needs no number any more."""


@dataclass(slots=True)
class Ledger:
    """What the rules of one version cost."""

    forgiven: bool = False
    """Whether single rules may cost what they do: the schema is as it was before an update."""
    refused: bool = False
    spent: list[tuple[int, Path]] = field(default_factory=list)

    def check(self) -> Iterator[Problem]:
        """Yield that all rules together cost too much, at the dearest; not where one alone does."""
        total = sum(cost for cost, _ in self.spent)
        if total > OF_DEFINITION and not self.refused:
            cost, path = max(self.spent, key=lambda spent: spent[0])
            share = f"{min(100, 100 * cost // total)} %"
            over = factor(total, OF_DEFINITION)
            message = f"all rules of this version may cost {over} the server's limit, this one {share}"
            yield Problem(path, COST.id, f"{message}; set maxItems, maxProperties or maxLength in it", COST.source)


@dataclass(frozen=True, slots=True)
class Costs:
    """What the rules of one node cost: its schema, what is around it, and the ledger that they are written to."""

    schema: Object
    root: bool
    around: Around
    ledger: Ledger

    def check(self, environment: Environment, rule: Mapping[str, str], path: Path) -> Iterator[Problem]:
        """Yield that a rule, or the expression of its message, costs too much."""
        sized = shape(self.schema, root=self.root)
        try:
            for key in ("rule", "messageExpression"):
                if rule.get(key) and sized is not None:
                    yield from self._check(environment.estimate(rule[key]), sized, (*path, key))
        except CompileError:
            return

    def _check(self, estimate: Callable[[Shape], int], sized: Shape, path: Path) -> Iterator[Problem]:
        is_rule = path[-1] == "rule"

        def cost(around: Around, inner: Shape) -> int:
            return times(estimate(inner), around.occurrences(inner) if is_rule else 1)

        found = cost(self.around, sized)
        self.ledger.spent.append((found, path))
        if found > OF_RULE and not self.ledger.forgiven:
            self.ledger.refused = True
            problem = f"this {path[-1]} may cost {factor(found, OF_RULE)} the server's limit"
            remedy = advice(
                self.schema, self.around, lambda around, inner: cost(around, inner) <= OF_RULE, root=self.root
            )
            yield Problem(path, COST.id, f"{problem}; {remedy}", COST.source)


def factor(cost: int, limit: int) -> str:
    """Say how many times too much a cost is."""
    over = cost / limit
    if over > _OVER:
        return f"more than {_OVER} times"
    return f"{over:.1f} times" if over >= 1.1 else "a little more than"
