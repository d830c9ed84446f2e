"""Generations of GPUs: each product has one, each fact has its source."""

from __future__ import annotations

import pytest

from trainyard.specs.gpus import Generation, generation_of, generations
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
    keys = {Generation.model_fields[field].alias for field in said - {"title", "vendor", "called", "sources"}}
    assert keys - set(row.sources) == set()
