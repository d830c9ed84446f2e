"""Whose verdict and which objects change between two states of the specs."""

from __future__ import annotations

from typing import Any

from conftest import ROOT
from everything import OPERATORS, everything
from make import CLUSTER, make_cluster, make_job_file, make_specs
from trainyard.change.upgrade.compare import Side, changed_clusters, job_turns, object_turns
from trainyard.judge import preflight
from trainyard.judge.admission.verdicts import verdicts
from trainyard.specs.load import Loaded


def side(**changes: Any) -> Side:
    """Return the specs with this cluster, and the verdicts on two jobs."""
    jobs = (make_job_file("small", nodes=1), make_job_file("large", nodes=4))
    specs = make_specs(*jobs, clusters={"test": make_cluster(**changes)})
    return Side(specs, verdicts(preflight.check(Loaded(specs, ROOT), ROOT), clusters=["test"]))


def test_a_job_that_fits_no_more_is_a_turn():
    """Jobs whose verdict stays are counted; the reason after the change is told."""
    before = side()
    quota = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}, "cpu": {"nodes": 4}}}}
    after = side(queues=quota)
    turns, _ = job_turns(before, after)
    assert [(turn.job, turn.before, turn.after) for turn in turns if turn.job == "nlp/large"] == [
        ("nlp/large", next(v.word for v in before.verdicts if v.ask.name == "nlp/large"), "never fits")
    ]
    assert job_turns(before, before) == ((), 0)


def test_objects_that_change_are_named_with_their_fields():
    """Another release changes the Application of its chart, and another operator adds and removes objects."""
    old = make_specs(
        clusters={"test": make_cluster(operators={**CLUSTER["operators"], "kueue": {"version": "0.18.6"}})}
    )
    new = make_specs(clusters={"test": make_cluster()})
    assert changed_clusters(old, new) == ["test"]
    (turn,) = object_turns(old, new, ["test"])
    assert (turn.word, turn.folder, turn.fields) == (
        *("changes", "argocd"),
        ("spec.source.targetRevision: 0.18.6 → 0.19.2",),
    )
    more = make_specs(clusters={"test": make_cluster(operators={**CLUSTER["operators"], "lws": {"version": "0.10.0"}})})
    words = {turn.word for turn in object_turns(new, more, ["test"])}
    assert words == {"adds", "changes"}
    assert {turn.word for turn in object_turns(more, new, ["test"])} == {"removes", "changes"}


def test_nodes_are_drained_where_their_driver_changes():
    """Other images of the Network Operator drain no node; a driver of NICs that it installs does."""
    others = {name: how for name, how in OPERATORS.items() if name not in {"sriov-network-operator", "whereabouts"}}
    found = {}
    for driver in (None, "operator"):
        system = {"distribution": "kubeadm", **({"nicDriver": driver} if driver else {})}
        one, two = (
            make_specs(
                clusters={
                    "test": everything(
                        system=system,
                        operators={**others, "network-operator": {"version": version}},
                    )
                }
            )
            for version in ("26.1.2", "26.4.1")
        )
        turns = list(object_turns(one, two, ["test"]))
        assert any(turn.folder == "hardware" for turn in turns)
        found[driver] = any(turn.driver for turn in turns)
    assert found == {None: False, "operator": True}
