"""All that a Python policy may import: the world it looks at and the problems it yields.

The modules behind the names are imported when a policy asks for one: judging a stranger's file needs no specs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trainyard.base.characters import fault as odd_characters
from trainyard.base.findings import Severity, did_you_mean
from trainyard.base.labels import HOOKS, NETWORK_RESOURCE, NETWORKS, POOL
from trainyard.base.labels import QUEUE as QUEUE_LABEL
from trainyard.base.labels import RUN as RUN_LABEL
from trainyard.base.manifests import Manifest, mapping, maps_in, strings
from trainyard.base.pools import selected_pools
from trainyard.base.quantities import whole_number
from trainyard.upstream.pods.resources import WHOLE_GPUS, quantity_text

if TYPE_CHECKING:
    from trainyard.judge.policies import traffic
    from trainyard.judge.policies.amounts import Need, amount_of, is_guaranteed
    from trainyard.judge.policies.capacity import allocatable, holds, offered
    from trainyard.judge.policies.claims import Mounted, mounted_claims
    from trainyard.judge.policies.classes import access_modes, lacking
    from trainyard.judge.policies.container_texts import container_texts
    from trainyard.judge.policies.devices import EFA, fabric_devices, is_gpu, is_rdma, rdma_resources
    from trainyard.judge.policies.folders import MOVES, held_by, mounted_at, mounts, unheld
    from trainyard.judge.policies.gangs import Gang, arguments, command_lines, gangs, launched
    from trainyard.judge.policies.generations import generation
    from trainyard.judge.policies.injected import injected
    from trainyard.judge.policies.json_objects import json_object
    from trainyard.judge.policies.known_keys import keys_of, meant_key
    from trainyard.judge.policies.kubelets import ALIGNING, aligning, kubelets, rails
    from trainyard.judge.policies.levels import upside_down
    from trainyard.judge.policies.lines import elastic, texts
    from trainyard.judge.policies.near import is_near
    from trainyard.judge.policies.places import Amount, Place, Variable
    from trainyard.judge.policies.policy import Problem
    from trainyard.judge.policies.queues import Queues, may_be_of, pool_of
    from trainyard.judge.policies.ranks import Elastic, Ranks, elastic_ranks, gpus_of, ranks
    from trainyard.judge.policies.scripts import Shell, all_variables, environment, shells
    from trainyard.judge.policies.services import all_workloads
    from trainyard.judge.policies.world import Pods, TrainingJob, World

HOMES = {
    "amounts": ("Need", "amount_of", "is_guaranteed"),
    "capacity": ("allocatable", "holds", "offered"),
    "claims": ("Mounted", "mounted_claims"),
    "classes": ("access_modes", "lacking"),
    "container_texts": ("container_texts",),
    "devices": ("EFA", "fabric_devices", "is_gpu", "is_rdma", "rdma_resources"),
    "folders": ("MOVES", "held_by", "mounted_at", "mounts", "unheld"),
    "gangs": ("Gang", "arguments", "command_lines", "gangs", "launched"),
    "generations": ("generation",),
    "injected": ("injected",),
    "json_objects": ("json_object",),
    "known_keys": ("keys_of", "meant_key"),
    "kubelets": ("ALIGNING", "aligning", "kubelets", "rails"),
    "near": ("is_near",),
    "levels": ("upside_down",),
    "lines": ("elastic", "texts"),
    "policy": ("Problem",),
    "queues": ("Queues", "may_be_of", "pool_of"),
    "ranks": ("Elastic", "Ranks", "elastic_ranks", "gpus_of", "ranks"),
    "scripts": ("Shell", "all_variables", "environment", "shells"),
    "services": ("all_workloads",),
    "places": ("Amount", "Place", "Variable"),
    "world": ("Pods", "TrainingJob", "World"),
}
"""The module of `trainyard.judge.policies` in which each name is."""

__all__ = [
    "ALIGNING",
    "EFA",
    "HOOKS",
    "MOVES",
    "NETWORKS",
    "NETWORK_RESOURCE",
    "POOL",
    "QUEUE_LABEL",
    "RUN_LABEL",
    "WHOLE_GPUS",
    "Amount",
    "Elastic",
    "Gang",
    "Manifest",
    "Mounted",
    "Need",
    "Place",
    "Pods",
    "Problem",
    "Queues",
    "Ranks",
    "Severity",
    "Shell",
    "TrainingJob",
    "Variable",
    "World",
    "access_modes",
    "aligning",
    "all_variables",
    "all_workloads",
    "allocatable",
    "amount_of",
    "arguments",
    "command_lines",
    "container_texts",
    "did_you_mean",
    "elastic",
    "elastic_ranks",
    "environment",
    "fabric_devices",
    "gangs",
    "generation",
    "gpus_of",
    "held_by",
    "holds",
    "injected",
    "is_gpu",
    "is_guaranteed",
    "is_near",
    "is_rdma",
    "json_object",
    "keys_of",
    "kubelets",
    "lacking",
    "launched",
    "mapping",
    "maps_in",
    "may_be_of",
    "meant_key",
    "mounted_at",
    "mounted_claims",
    "mounts",
    "odd_characters",
    "offered",
    "pool_of",
    "quantity_text",
    "rails",
    "ranks",
    "rdma_resources",
    "selected_pools",
    "shells",
    "strings",
    "texts",
    "traffic",
    "unheld",
    "upside_down",
    "whole_number",
]


def __getattr__(name: str) -> Any:
    """Import what a policy asks for."""
    if name == "traffic":
        return import_module("trainyard.judge.policies.traffic")
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"trainyard.judge.policies.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
