"""What nodes of a pool offer of their GPUs: whole ones, devices that MIG cuts them into, or places on shared ones.

Names: NVIDIA/k8s-device-plugin v0.20.0 internal/resource, internal/lm; of AMD's partitions ROCm/k8s-device-plugin.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from trainyard.base.labels import POOL
from trainyard.base.system.once import once
from trainyard.specs import Job, Pool
from trainyard.specs.models.gpus import Mig
from trainyard.upstream.pods.resources import NVIDIA_GPU

MIG_CONFIG = "nvidia.com/mig.config"
PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
"""Labels of nodes by which the GPU Operator's MIG manager and device plugin choose a configuration."""

PARTITION_PROFILE = "dcm.amd.com/gpu-config-profile"
"""Label of nodes by which AMD's device config manager chooses a profile (ROCm/gpu-operator v1.5.1 docs/dcm)."""

PRODUCT = "nvidia.com/gpu.product"

SLICES = 7
"""Compute slices of a GPU (NVIDIA MIG user guide r580, supported MIG profiles)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a GPU a device may lie."""

    compute: int
    """Compute slices that it takes."""
    memory: int
    """Memory slices, of eight."""
    starts: tuple[int, ...]
    """First memory slices that it may have."""


PLACES = (
    Place(1, 1, (0, 1, 2, 3, 4, 5, 6)),
    Place(1, 2, (0, 2, 4, 6)),
    Place(2, 2, (0, 2, 4)),
    Place(3, 4, (0, 4)),
    Place(4, 4, (0,)),
    Place(7, 8, (0,)),
)
"""Of the six profiles of a model, in their order (`nvidia-smi mig -lgipp`; NVIDIA MIG user guide r580)."""

MODELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("GB200", ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb")),
    ("B200", ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")),
    ("H200", ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")),
    ("H100-NVL", ("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb")),
    ("H100.*80GB", ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    ("A100.*80GB", ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")),
    ("A100.*40GB", ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")),
)
"""Profiles by product label (NVIDIA MIG user guide r580, supported profiles; NVIDIA/mig-parted v0.15.0 examples)."""

MEDIA = "+me"
"""What a profile of one slice ends with that has the media engines too, of which a GPU has one set."""


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
            Fraction(int(profile[0]), SLICES),
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
    return Fraction(int(match[1]), SLICES) if match else Fraction(1)


def profiles(product: str) -> dict[str, Place]:
    """Return the MIG profiles of a model by its product label; none of one that is not known."""
    names = next((names for pattern, names in MODELS if re.search(pattern, product)), ())
    found = dict(zip(names, PLACES, strict=False))
    return {**found, **({names[0] + MEDIA: PLACES[0]} if names else {})}


def fits(layout: Mapping[str, int], known: Mapping[str, Place]) -> bool:
    """Whether one GPU can be cut so: each device has memory slices of its own, and all their compute slices."""
    places = [known[profile] for profile, count in layout.items() for _ in range(count)]
    media = sum(count for profile, count in layout.items() if profile.endswith(MEDIA))
    places.sort(key=lambda place: -place.memory)
    return media <= 1 and sum(place.compute for place in places) <= SLICES and is_placeable(tuple(places), frozenset())


def is_placeable(places: tuple[Place, ...], taken: frozenset[int]) -> bool:
    """Whether devices find memory slices that others have not taken."""
    if not places:
        return True
    first, *rest = places
    wanted = (frozenset(range(start, start + first.memory)) for start in first.starts)
    return any(is_placeable(tuple(rest), taken | slices) for slices in wanted if not slices & taken)


def labels(name: str, pool: Pool) -> dict[str, str]:
    """Return the labels of a pool's nodes: their shape's, what their GPUs make of it, and the pool's own."""
    return {**pool.node.labels, **configured_labels(name, pool), **pool.labels, POOL: name}


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
