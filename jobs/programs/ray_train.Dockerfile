# Built in this folder:
#   docker build --file ray_train.Dockerfile --build-arg BASE=<image> .
# BASE: an image with Ray 2.43 or newer, with its extra `train`, and PyTorch 2.6 or newer; by digest, from a registry that
# platform/repository.yaml allows.
ARG BASE
FROM ${BASE}
USER root
RUN getent passwd 1000 || useradd --uid 1000 --create-home trainer
WORKDIR /workspace
COPY contract.py gang.py keeper.py ddp.py ray_train.py ./
USER 1000:1000
