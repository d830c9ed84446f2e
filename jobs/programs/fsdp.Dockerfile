# Built in this folder:
#   docker build --file fsdp.Dockerfile --build-arg BASE=<image> .
# BASE: an image with Python 3.11 and PyTorch 2.6 or newer, for CUDA or ROCm, or for CPUs, where fully_shard of 2.6 does not
# run yet and that of 2.15 does; by digest, from a registry that platform/repository.yaml allows.
ARG BASE
FROM ${BASE}
USER root
RUN getent passwd 1000 || useradd --uid 1000 --create-home trainer
WORKDIR /workspace
COPY contract.py gang.py keeper.py fsdp.py ./
USER 1000:1000
