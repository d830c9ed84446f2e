"""Generations of GPUs: each product has one, each fact has its source."""

from __future__ import annotations

import re

import pytest

from trainyard.base.quantities import Quantity
from trainyard.specs.gpus import Generation, Model, generation_of, generations, model_of
from trainyard.specs.shapes import names, preset

ROWS = generations()
PLAIN = Generation(title="plain", vendor="nvidia", products=("x",), called="x", sources={})

PRODUCTS = {
    "Tesla-P40": "pascal",
    "Tesla-V100-SXM2-32GB": "volta",
    "p3dn.24xlarge": "volta",
    "Tesla-T4": "turing",
    "nvidia-tesla-t4": "turing",
    "NVIDIA-A100-SXM4-40GB": "ampere-a100",
    "nvidia-a100-80gb": "ampere-a100",
    "p4de.24xlarge": "ampere-a100",
    "NVIDIA-A10G": "ampere",
    "NVIDIA-RTX-A6000": "ampere",
    "NVIDIA-L40S": "ada",
    "g6e.48xlarge": "ada",
    "NVIDIA-H100-80GB-HBM3": "hopper",
    "nvidia-h100-mega-80gb": "hopper",
    "NVIDIA-GH200-480GB": "hopper",
    "p5en.48xlarge": "hopper",
    "NVIDIA-GB200": "blackwell",
    "p6-b200.48xlarge": "blackwell",
    "NVIDIA-B300-SXM6-AC": "blackwell-ultra",
    "AMD_Instinct_MI250X": "cdna2",
    "AMD_Instinct_MI300X_OAM": "cdna3",
    "AMD_Instinct_MI355X": "cdna4",
    "a2-highgpu-8g": None,
    "TEST": None,
}


@pytest.mark.parametrize(("product", "name"), PRODUCTS.items())
def test_a_product_has_one_generation(product, name):
    """Labels, instance types and accelerator names lead to the architecture, and to one alone."""
    found = generation_of(product)
    assert found == (ROWS[name] if name else None)


@pytest.mark.parametrize("shape", names())
def test_gpus_of_every_preset_are_known(shape):
    """A preset with GPUs has a product of some generation, of the same vendor."""
    gpus = preset(shape).gpus
    if gpus is not None:
        found = generation_of(gpus.product)
        assert found is not None
        assert found.vendor == gpus.vendor


@pytest.mark.parametrize("name", ROWS)
def test_every_fact_has_a_source(name):
    """A fact that differs from the default names a document, or says `assumed`."""
    row = ROWS[name]
    said = {field for field in Generation.model_fields if getattr(row, field) != getattr(PLAIN, field)}
    plain = {"title", "vendor", "called", "models", "sources"}
    keys = {Generation.model_fields[field].alias for field in said - plain} | of_models(row.models)
    assert keys - set(row.sources) == set()
    assert set(row.sources) - keys == set()


def of_models(models: tuple[Model, ...]) -> set[str]:
    """Return the keys of the sources that models need."""
    said = {"memory": bool(models), "link": any(row.link for row in models), "mig": any(row.mig for row in models)}
    return {f"models.{name}" for name, there in said.items() if there}


@pytest.mark.parametrize("shape", [name for name in names() if preset(name).gpus])
def test_gpus_of_every_preset_are_a_model(shape):
    """A preset's GPUs have the memory of their model, and its NVLink joins no more GPUs than the model's does."""
    node = preset(shape)
    assert node.gpus is not None
    model = model_of(node.gpus.product)
    assert model is not None
    assert 0.92 * model.memory <= Quantity.parse(node.gpus.memory).value() / 2**30 <= model.memory
    domain = node.gpus.count * node.nvlink_nodes
    assert node.nvlink_nodes == 1 or (model.link is not None and domain == model.link.gpus)


MODELS = {
    "NVIDIA-H100-80GB-HBM3": ("H100 SXM", 900, True),
    "NVIDIA-H100-PCIe": ("H100 PCIe", 600, True),
    "NVIDIA-H100-NVL": ("H100 NVL", 600, True),
    "NVIDIA-GH200-480GB": ("GH200 96 GB", 900, True),
    "NVIDIA-H200": ("H200", 900, True),
    "NVIDIA-H200-NVL": ("H200 NVL", 900, True),
    "NVIDIA-A100-80GB-PCIe": ("A100 PCIe 80 GB", 600, True),
    "NVIDIA-A10G": ("A10G", None, False),
    "NVIDIA-A30": ("A30", 200, True),
    "NVIDIA-L40S": ("L40 or L40S", None, False),
    "NVIDIA-B200": ("B200", 1800, True),
    "NVIDIA-GB200": ("GB200", 1800, True),
    "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition": ("RTX PRO 6000 Blackwell", None, True),
    "AMD_Instinct_MI300X_OAM": ("MI300X", 896, False),
    "AMD_Instinct_MI250X": ("half of MI250 or MI250X", 400, False),
}


@pytest.mark.parametrize(("product", "expected"), MODELS.items(), ids=MODELS)
def test_a_product_has_one_model(product, expected):
    """Labels lead to memory, link and MIG of one model; a model that is not known has none."""
    model = model_of(product)
    assert model is not None
    assert (model.called, model.link and model.link.speed, model.mig is not None) == expected
    assert sum(bool(re.search(row.product, product.replace("_", "-"))) for row in every()) == 1


def every() -> list[Model]:
    """Return the models of all generations."""
    return [row for generation in ROWS.values() for row in generation.models]


def test_a_model_that_nobody_knows_has_no_facts():
    """Neither a new product of a known generation nor a new generation is taken for another model."""
    assert [model_of(name) for name in ("NVIDIA-H20-3e", "NVIDIA-R100", "AMD_Instinct_MI430X")] == [None] * 3
