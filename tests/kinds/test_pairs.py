"""What kinds say of themselves: how their runs go on, and which launchers they carry."""

from __future__ import annotations

from dataclasses import fields

import pytest

from trainyard.render.kinds import kinds
from trainyard.render.kinds.behaviour import EVENTS, Behaviour
from trainyard.render.kinds.pairs import Pair
from trainyard.render.launchers import NEEDS, launchers


@pytest.mark.parametrize("kind", kinds().values(), ids=kinds())
def test_every_kind_says_what_becomes_of_its_runs(kind):
    """Each question has an answer: words, without a full stop."""
    answers = [answer for _, answer in kind.behaviour.answers()]
    assert all(answer and not answer.endswith(".") for answer in answers)


def test_every_question_is_a_field():
    """Questions and answers go together."""
    assert [field.name for field in fields(Behaviour)] == list(EVENTS)


@pytest.mark.parametrize("kind", kinds().values(), ids=kinds())
def test_every_kind_carries_some_launcher(kind):
    """No kind is there that nothing can start in."""
    assert any(Pair(launcher, kind).word in {"yes", "elastic"} for launcher in launchers().values())


@pytest.mark.parametrize("launcher", launchers().values(), ids=launchers())
def test_every_launcher_has_a_kind(launcher):
    """No launcher is there that no kind can carry, and every word of what it needs is explained."""
    assert any(Pair(launcher, kind).word in {"yes", "elastic"} for kind in kinds().values())
    assert launcher.needs | launcher.alone <= set(NEEDS)


V1 = ("JAXJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob")


@pytest.mark.parametrize("kind", V1)
def test_one_pod_is_enough_for_kueue_in_kubeflows_v1_kinds(kind):
    """They are ready by their condition Running, of one pod, so that nothing queues again what lacks others.

    kueue v0.19.2 pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go PodsReady.
    """
    assert kinds()[kind].behaviour.unready != kinds()["JobSet"].behaviour.unready
    assert not kinds()[kind].waits_for_all
