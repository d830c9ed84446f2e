"""Rules read metrics and labels that exporters really have, and the table is what the exporters' sources say.

Sources that are Go modules are read where Go has them; those that are repositories where TRAINYARD_METRIC_SOURCES names
a folder with a checkout `<owner>+<name>` of each.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from trainyard.specs.alerts import groups, recorded
from trainyard.specs.metrics import NAME, TARGET, exporters, owners

MODULES = Path(os.environ.get("GOMODCACHE") or Path.home() / "go/pkg/mod")
CHECKOUTS = os.environ.get("TRAINYARD_METRIC_SOURCES")

TEXTS = re.compile(r'"(?:\\.|[^"\\])*"')
GROUPING = re.compile(r"\b(by|on|without|ignoring|group_left|group_right)\s*\(([^()]*)\)")
SELECTOR = re.compile(r"\{([^{}]*)\}")
DURATION = re.compile(r"\[[^\]]*\]")
WORDS = frozenset(
    {
        *("by", "on", "without", "ignoring", "group_left", "group_right", "and", "or", "unless", "bool"),
        *("max", "min", "sum", "avg", "count", "rate", "increase", "delta", "changes", "clamp_min", "time"),
        *("label_replace", "max_over_time", "quantile"),
    }
)
"""What is neither metric nor label in our expressions (prometheus v0.314.0 promql/parser/lex.go, functions.go)."""

RULES = [(name, rule) for name, group in groups().items() for rule in group.rules]
IDS = [f"{name}-{rule.alert or rule.record}" for name, rule in RULES]


def parts(expression: str) -> tuple[set[str], set[str]]:
    """Return the metrics and the labels that an expression names."""
    text = re.sub(r"<\w+>", "1", expression)
    names = {word for one in re.findall(r'"(\w+)", "\$1", "(\w+)"', " ".join(text.split())) for word in one}
    text = TEXTS.sub('""', DURATION.sub("", text))
    labels = {word for _, inner in GROUPING.findall(text) for word in NAME.findall(inner)}
    labels |= {word for inner in SELECTOR.findall(text) for word in re.findall(r"([a-zA-Z_]\w*)\s*(?:=|!)", inner)}
    plain = SELECTOR.sub("", GROUPING.sub("", text))
    metrics = {word for word in NAME.findall(plain) if word not in WORDS}
    return metrics, labels | names


def known_labels(metrics: set[str]) -> set[str]:
    """Return the labels that series of these metrics have, and those that rules make of them."""
    series = {name: labels for table in exporters().values() for name, labels in table.series()} | recorded()
    return {label for name in metrics for label in series[name]} | TARGET


@pytest.mark.parametrize(("group", "rule"), RULES, ids=IDS)
def test_metrics_are_in_the_table(group, rule):
    """Every metric of an expression is one that an exporter has, or that an earlier rule records."""
    metrics, _ = parts(rule.expr)
    assert metrics
    assert not metrics - set(owners()) - set(recorded())


@pytest.mark.parametrize(("group", "rule"), RULES, ids=IDS)
def test_labels_are_in_the_table(group, rule):
    """Every label of an expression is one of its metrics, or one that it makes itself."""
    metrics, labels = parts(rule.expr)
    made = set(re.findall(r'"(\w+)", "\$1"', " ".join(rule.expr.split())))
    assert not labels - known_labels(metrics) - made


@pytest.mark.parametrize(("group", "rule"), RULES, ids=IDS)
def test_texts_name_labels_that_alerts_have(group, rule):
    """A text of an alert names labels that its series can have; an unknown one would be an empty place."""
    metrics, labels = parts(rule.expr)
    joined = {"run", "team"} if rule.join_run else set()
    for text in (rule.summary or "", rule.description or "", f"$labels.{rule.team}" if rule.team else ""):
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= known_labels(metrics) | labels | joined, text


def test_a_wrong_name_is_seen():
    """The reading finds names: metrics, labels of selectors, of groupings, and of joins."""
    metrics, labels = parts('max by (a) (rate(x_total{b="c",d!~"e"}[5m])) * on (f) group_left (g) y > <idleRatio>')
    assert metrics == {"x_total", "y"}
    assert labels == {"a", "b", "d", "f", "g"}


def escaped(module: str) -> str:
    """Return a module's path as Go's cache has it: `!x` for a capital letter."""
    return re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", module)


def folder(name: str) -> Path | None:
    """Return where the source of an exporter is on this machine."""
    source = exporters()[name].source
    if source.module:
        found = MODULES / f"{escaped(source.module)}@{source.tag}"
        return found if found.is_dir() else None
    if source.repository and CHECKOUTS:
        found = Path(CHECKOUTS) / source.repository.replace("/", "+")
        return found if found.is_dir() else None
    return None


OUTSIDE = [name for name, table in exporters().items() if table.source.configuration is None and table.metrics]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_are_in_the_source(name):
    """The file that the table names has the metric's name, as far as it does not put it together."""
    table, where = exporters()[name], folder(name)
    assert (table.source.module is None) != (table.source.repository is None)
    assert all(metric.file for metric in table.metrics.values())
    if where is None:
        pytest.skip(f"the source of {name} {table.source.tag} is not on this machine; names were not compared")
    for metric, facts in table.metrics.items():
        spelled = facts.spelled or metric.removeprefix(table.source.prefix)
        assert spelled in (where / str(facts.file)).read_text(encoding="utf-8"), f"{metric} in {facts.file}"


def test_names_follow_from_the_configuration():
    """Metrics of a configuration of ours are those that kube-state-metrics makes of it, with their labels."""
    table = exporters()["custom-resource-state"]
    made = {}
    for one in table.resources:
        for metric in one["metrics"]:
            gauge = metric["each"].get("gauge", {})
            labels = {*one["labelsFromPath"], *gauge.get("labelsFromPath", ())} - set(table.labels)
            made[f"kube_customresource_{metric['name']}"] = labels
    assert made == {name: set(metric.labels) for name, metric in table.metrics.items()}


def test_counters_of_dcgm_are_lines():
    """A counter's text has no comma, which would end its field."""
    assert not [name for name, metric in exporters()["dcgm-exporter"].metrics.items() if "," in metric.help]
