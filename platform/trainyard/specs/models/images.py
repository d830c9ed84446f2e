"""An image with the GPU software that is in it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, StrictStr, Tag, model_validator

from trainyard.specs.models.base import Count, Form, Image, Spec, validation_error

Release = Annotated[StrictStr, Form(r"[1-9][0-9]?\.[0-9]{1,2}", "a release such as '12.8', in quotes")]


class ImageWithSoftware(Spec):
    """An image by digest, with the GPU software in it; the run stays the same whatever is said of it."""

    name: Image
    """Container image by digest: `registry/path@sha256:…`."""
    cuda: Release | None = None
    """Release of CUDA in the image, such as "12.8"; drivers and GPUs of the pool are compared with it."""
    rocm: Release | None = None
    """Release of ROCm in the image, such as "7.0"; the driver and GPUs of the pool are compared with it."""
    older_drivers: Annotated[tuple[Count, ...], Field(max_length=20)] = ()
    """Branches of NVIDIA's driver, such as 535, that the image's forward compatibility package supports although they
    are older than its CUDA."""

    @model_validator(mode="after")
    def one_vendor(self) -> ImageWithSoftware:
        """Refuse older drivers of a CUDA that is not there: programs for ROCm need none of NVIDIA's."""
        if self.older_drivers and self.cuda is None:
            raise validation_error("olderDrivers", "has olderDrivers, but no cuda; add cuda or remove olderDrivers")
        return self


AnyImage = Annotated[
    Annotated[Image, Tag("by name")] | Annotated[ImageWithSoftware, Tag("with software")],
    Discriminator(lambda value: "with software" if isinstance(value, (dict, ImageWithSoftware)) else "by name"),
]


def image_name(image: Any) -> Any:
    """Return the name of an image as a file says it: by name alone, or with its software."""
    if isinstance(image, ImageWithSoftware):
        return image.name
    return image["name"] if isinstance(image, dict) and "name" in image else image
