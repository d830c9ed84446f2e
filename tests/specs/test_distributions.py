"""Facts of distributions: each has its source, and what they say of operators is about operators that there are."""

from __future__ import annotations

from typing import get_args

import pytest

from trainyard.render.operators import operators
from trainyard.specs.distributions import Distribution, distributions
from trainyard.specs.models.pools import Kubelet
from trainyard.specs.models.system import Distribution as Names

FACTS = distributions()
PLAIN = Distribution(title="plain", sources={})
UNSOURCED = {"title", "sources", "excludes", "brings_runtime", "runtime"}
"""Fields without a line in `sources`: a refusal has its own, and a runtime is part of the distribution's name."""


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_has_a_source(name):
    """What differs from the default, and folders and GPU software in any case, name a document or say `assumed`."""
    facts = FACTS[name]
    said = {field for field in Distribution.model_fields if getattr(facts, field) != getattr(PLAIN, field)}
    sources = {key for field in said - UNSOURCED if (key := Distribution.model_fields[field].alias)}
    managed = {"gpus"} if name in {"openshift", "gke-autopilot"} else {"gpus", "cni"}
    assert (sources | managed) - set(facts.sources) == set()


@pytest.mark.parametrize("name", FACTS)
def test_facts_name_what_there_is(name):
    """Operators that are excluded can be installed elsewhere, and fields are the kubelet's."""
    facts = FACTS[name]
    assert set(facts.excludes) <= set(operators())
    keys = {field.alias for field in Kubelet.model_fields.values()}
    assert set(facts.kubelet_fields or ()) <= keys
    assert facts.gpus.driver


def test_a_cluster_can_name_every_distribution():
    """Files of the folder and words of a cluster's file are the same."""
    assert set(FACTS) == set(get_args(Names))
