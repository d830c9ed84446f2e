# Built in this folder:
#   docker build --file hello.Dockerfile --build-arg BASE=<image> .
# BASE: any image with Python; by digest, from a registry that platform/repository.yaml allows.
ARG BASE
FROM ${BASE}
USER root
RUN getent passwd 1000 || useradd --uid 1000 --create-home trainer
WORKDIR /workspace
COPY hello.py ./
USER 1000:1000
