"""What nodes of a pool offer of their GPUs: whole ones, devices that MIG cuts them into, or places on shared ones.

Names: NVIDIA/k8s-device-plugin v0.20.0 internal/resource, internal/lm; of AMD's partitions ROCm/k8s-device-plugin.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from trainyard.base.pools import selector_of
from trainyard.base.system.once import once
from trainyard.specs import Job, Pool
from trainyard.specs.gpus import model_of
from trainyard.specs.models.gpus import Mig
from trainyard.upstream.pods.resources import NVIDIA_GPU

MIG_CONFIG = "nvidia.com/mig.config"
PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
"""Labels of nodes by which the GPU Operator's MIG manager and device plugin choose a configuration."""

PARTITION_PROFILE = "dcm.amd.com/gpu-config-profile"
"""Label of nodes by which AMD's device config manager chooses a profile (ROCm/gpu-operator v1.5.1 docs/dcm)."""

PRODUCT = "nvidia.com/gpu.product"

SLICES = 7
"""Compute slices of a GPU whose model is not known (NVIDIA MIG user guide r580, supported MIG profiles)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a GPU a device may lie."""

    compute: int
    """Compute slices that it takes."""
    memory: int
    """Memory slices."""
    starts: tuple[int, ...]
    """First memory slices that it may have."""


STARTS: dict[tuple[int, int, int], tuple[int, ...]] = {
    (7, 1, 1): (0, 1, 2, 3, 4, 5, 6),
    (7, 1, 2): (0, 2, 4, 6),
    (7, 2, 2): (0, 2, 4),
    (7, 3, 4): (0, 4),
    (7, 4, 4): (0,),
    (7, 7, 8): (0,),
    (4, 1, 1): (0, 1, 2, 3),
    (4, 2, 2): (0, 2),
    (4, 4, 4): (0,),
}
"""First memory slices of devices, by the compute slices of the GPU, and the compute and memory slices of the device.

`nvidia-smi mig -lgipp`; NVIDIA MIG user guide r580.
"""

MEDIA, ALL_MEDIA, NO_MEDIA = "+me", "+me.all", "-me"
"""What profiles end with that have the one set of all media engines, or none (NVIDIA MIG user guide r580)."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Equal devices of a node, under the resource by which pods ask for them."""

    resource: str
    part: Fraction
    """Of a GPU, by its compute units or by those who share it."""
    gpus: tuple[int, ...]
    """The GPU that each device is of, by its index."""
    profile: str = ""
    """MIG profile, where it is one."""
    shared: bool = False

    @property
    def count(self) -> int:
        """How many a node has."""
        return len(self.gpus)

    @property
    def whole(self) -> bool:
        """Whether a device is a GPU that nobody else uses."""
        return not self.profile and not self.shared


@once
def offers(pool: Pool) -> tuple[Offer, ...]:
    """Return the GPU resources that a node of the pool offers; nothing where it has no GPUs."""
    found = pool.node.gpus
    if found is None:
        return ()
    every = tuple(range(found.count))
    if pool.sharing is not None:
        shares = tuple(index for index in every for _ in range(pool.sharing.replicas))
        return (Offer(f"{found.resource}.shared", Fraction(1, pool.sharing.replicas), shares, shared=True),)
    if pool.mig is None:
        return (Offer(found.resource, Fraction(1), every),)
    cut = tuple(index for index in every if index in cut_gpus(pool.mig, found.count))
    whole = tuple(index for index in every if index not in cut)
    made = tuple(
        Offer(
            resource_of(found.resource, profile, pool.mig),
            Fraction(int(profile[0]), slices(found.product)),
            tuple(index for index in cut for _ in range(count)),
            profile,
        )
        for profile, count in pool.mig.layout.items()
    )
    return (*((Offer(found.resource, Fraction(1), whole),) if whole else ()), *made)


def cut_gpus(mig: Mig, count: int) -> frozenset[int]:
    """Return the GPUs of a node that are cut, by their indices."""
    return frozenset(mig.gpus or range(count))


def resource_of(resource: str, profile: str, mig: Mig | None = None) -> str:
    """Return the resource of a profile: one of its own, but for the strategy that has all devices alike."""
    if mig is not None and mig.strategy == "single":
        return resource
    vendor = resource.partition("/")[0]
    return f"{vendor}/{'mig-' if vendor == 'nvidia.com' else ''}{profile.replace('+', '.')}"


def per_node(pool: Pool) -> dict[str, int]:
    """Return how many devices a node offers, by resource."""
    found: Counter[str] = Counter()
    for offer in offers(pool):
        found[offer.resource] += offer.count
    return dict(found)


def offered_gpus(pool: Pool) -> int:
    """Return how many whole GPUs a node offers."""
    return sum(offer.count for offer in offers(pool) if offer.whole)


def asked_offer(job: Job, pool: Pool) -> Offer | None:
    """Return the devices that a job's `gpu` asks for, or else whole GPUs; None where nodes offer no such thing.

    A shape may itself be of such devices: then their resource says what they are.
    """
    gpu, every = job.gpu, offers(pool)
    if gpu is None:
        return next((offer for offer in every if offer.whole), None)
    for offer in every:
        if gpu.shared and (offer.shared or offer.resource.endswith(".shared")):
            return offer
        if gpu.profile and (offer.profile == gpu.profile or offer.resource.endswith(gpu.profile.replace("+", "."))):
            return offer
    return None


def gpu_resource(job: Job, pool: Pool) -> str:
    """Return the resource that a job's GPUs, or its part of one, are requested as, whether nodes offer it or not."""
    found, gpu = asked_offer(job, pool), job.gpu
    if found is not None:
        return found.resource
    resource = pool.node.gpus.resource if pool.node.gpus else NVIDIA_GPU
    if gpu is not None and gpu.profile:
        return resource_of(resource, gpu.profile)
    return f"{resource}.shared" if gpu is not None else resource


def piece_of(job: Job, pool: Pool) -> Fraction:
    """Return the part of a GPU that one device is; of a profile that nodes do not offer, what its name says."""
    found = asked_offer(job, pool)
    if found is not None:
        return found.part
    match = re.match(r"([1-7])g\.", (job.gpu.profile if job.gpu else None) or "")
    gpus = pool.node.gpus
    return Fraction(int(match[1]), slices(gpus.product if gpus else "")) if match else Fraction(1)


def slices(product: str) -> int:
    """Return the compute slices of a GPU by its product label."""
    model = model_of(product)
    return model.mig.slices if model is not None and model.mig is not None else SLICES


def profiles(product: str) -> dict[str, Place]:
    """Return the MIG profiles of a model by its product label; none of one that has none, or is not known."""
    model = model_of(product)
    if model is None or model.mig is None:
        return {}
    whole = model.mig.slices
    return {
        name: Place(int(name[0]), memory, STARTS[whole, int(name[0]), memory])
        for name, memory in model.mig.profiles.items()
    }


def fits(layout: Mapping[str, int], product: str) -> bool:
    """Whether one GPU can be cut so: each device has memory slices of its own, and all their compute slices."""
    known = profiles(product)
    places = [known[profile] for profile, count in layout.items() for _ in range(count)]
    places.sort(key=lambda place: -place.memory)
    small = sum(place.compute for place in places) <= slices(product)
    return has_engines(layout) and small and is_placeable(tuple(places), frozenset())


def has_engines(layout: Mapping[str, int]) -> bool:
    """Whether one device at most has the set of media engines, and nobody else an engine where it has all of them."""
    sets = sum(count for profile, count in layout.items() if profile.endswith((MEDIA, ALL_MEDIA)))
    everything = any(profile.endswith(ALL_MEDIA) for profile in layout)
    return sets <= 1 and (not everything or all(profile.endswith((ALL_MEDIA, NO_MEDIA)) for profile in layout))


def is_placeable(places: tuple[Place, ...], taken: frozenset[int]) -> bool:
    """Whether devices find memory slices that others have not taken."""
    if not places:
        return True
    first, *rest = places
    wanted = (frozenset(range(start, start + first.memory)) for start in first.starts)
    return any(is_placeable(tuple(rest), taken | slices) for slices in wanted if not slices & taken)


def labels(name: str, pool: Pool) -> dict[str, str]:
    """Return the labels of a pool's nodes: their shape's, what their GPUs make of it, and the pool's own."""
    return {**pool.node.labels, **configured_labels(name, pool), **pool.labels, **selector_of(name, pool.selector)}


def configured_labels(name: str, pool: Pool) -> dict[str, str]:
    """Return the labels by which nodes get the pool's configuration of GPUs, and the product that they then have."""
    if pool.partition is not None:
        return {PARTITION_PROFILE: name}
    if pool.sharing is not None:
        return {PLUGIN_CONFIG: name}
    if pool.mig is None:
        return {}
    found = {MIG_CONFIG: name}
    product = pool.node.labels.get(PRODUCT)
    if pool.mig.strategy == "single" and product:
        (profile, *_) = pool.mig.layout
        found[PRODUCT] = f"{product}-MIG-{profile.replace('+', '.')}"
    return found
