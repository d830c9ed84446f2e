# Built in this folder:
#   docker build --file roll_call.Dockerfile --build-arg BASE=<image> .
# BASE: an image with Python and the framework of the job; by digest, from a registry that platform/repository.yaml allows.
ARG BASE
FROM ${BASE}
USER root
RUN getent passwd 1000 || useradd --uid 1000 --create-home trainer
WORKDIR /workspace
COPY recommender.py recommender_ray.py roll_call.py ./
USER 1000:1000
