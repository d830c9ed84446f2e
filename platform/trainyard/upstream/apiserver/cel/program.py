"""A compiled expression, which can be kept as plain data and restored without reading its text again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainyard.upstream.apiserver.cel.blame import Culprit, finder
from trainyard.upstream.apiserver.cel.build import Plan, build
from trainyard.upstream.apiserver.cel.errors import CelError, Unknown, no_such_overload, over_budget
from trainyard.upstream.apiserver.cel.logic import BudgetError, Frame, Run
from trainyard.upstream.apiserver.cel.types import Type
from trainyard.upstream.apiserver.cel.values import ABSENT, EFFORTS, Effort

COST_LIMIT = 1_000_000
"""What one evaluation may cost: kubernetes/apiserver v0.35.4 pkg/apis/cel/config.go PerCallLimit."""

TOTAL, CONDITIONS = 10_000_000, 2_500_000
"""What all rules of one object or policy may cost together, and all conditions of a policy: as above,
RuntimeCELCostBudget and RuntimeCELCostBudgetMatchConditions."""

SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"


@dataclass(slots=True)
class Budget:
    """What several evaluations may still cost together; below zero where they cost more."""

    left: int = TOTAL
    effort: Effort = field(default_factory=Effort)
    """What they may still compare and make, beside what a server counts."""


@dataclass(frozen=True)
class Program:
    """A compiled expression; `plain` says that it gives the same for plain JSON as for converted values."""

    expression: str
    type: Type
    """The type of its value."""
    plan: Plan
    plain: bool
    variables: tuple[str, ...]
    """The declared variables that it refers to, in the order in which a frame holds them."""
    size: int

    @cached_property
    def run(self) -> Run:
        """The function that evaluates it, which is built once somebody does: many are only compiled."""
        return build(self.plan)

    @classmethod
    def of(
        cls, expression: str, type_: Type, *, plan: Plan, plain: bool, variables: Sequence[str], size: int
    ) -> Program:
        """Build a program from its plan."""
        return cls(expression, type_, plan, plain, tuple(variables), size)

    def kept(self) -> list[Any]:
        """Return the parts that `restored` needs, as JSON has them."""
        return [self.expression, self.plan, self.plain, [*self.variables], self.size]

    @classmethod
    def restored(cls, kept: Sequence[Any], type_: Type) -> Program:
        """Return a program that was kept; raises KeyError, TypeError or ValueError for anything else."""
        expression, plan, plain, variables, size = kept
        found = cls.of(expression, type_, plan=plan, plain=plain, variables=variables, size=size)
        vars(found)["run"] = build(plan)  # which says whether it is a plan at all
        return found

    def evaluate(self, bindings: Mapping[str, Any], budget: Budget | None = None) -> Any:
        """Return the value for these variables; a CelError where it fails, an Unknown where it cannot be told.

        A variable may itself be bound to an Unknown. Values that are not of the declared types fail as well. What it
        costs is taken off the budget.
        """
        frame = self._frame(bindings)
        budget = budget or Budget()
        found = self._evaluated(frame, budget)
        budget.left -= COST_LIMIT - frame[0]
        return found

    def _evaluated(self, frame: Frame, budget: Budget) -> Any:
        EFFORTS.append(budget.effort)
        try:
            return self.run(frame)
        except CelError as error:
            return error
        except (AttributeError, TypeError):
            return no_such_overload()
        except BudgetError:
            return over_budget()
        except (ArithmeticError, RecursionError):
            return Unknown("numbers or a nesting beyond what is computed here")
        finally:
            EFFORTS.pop()

    def culprit(self, bindings: Mapping[str, Any], budget: Budget | None = None) -> Culprit | None:
        """Return the element of a list or map that makes a false expression false, where one does.

        What it costs to look is taken off the budget; without any left nothing is looked for.
        """
        find = finder(self.plan)
        budget = budget or Budget()
        if find is None or budget.left < 0:
            return None
        frame = self._frame(bindings)
        EFFORTS.append(budget.effort)
        try:
            return find(frame)
        except (ArithmeticError, AttributeError, BudgetError, CelError, RecursionError, TypeError):
            return None
        finally:
            EFFORTS.pop()
            budget.left -= COST_LIMIT - frame[0]

    def _frame(self, bindings: Mapping[str, Any]) -> Frame:
        frame: Frame = [COST_LIMIT, *(bindings.get(name, ABSENT) for name in self.variables)]
        frame += [None] * (self.size - len(frame))
        return frame


def slots_of(names: Iterable[str]) -> dict[str, int]:
    """Return where a frame holds each variable."""
    return {name: slot for slot, name in enumerate(names, start=1)}
