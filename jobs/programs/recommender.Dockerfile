# Built in this folder:
#   docker build --file recommender.Dockerfile --build-arg BASE=<image> .
# BASE: an image with Python 3.11 or newer, and with Ray where recommender_ray.py is to run; by digest, from a registry that
# platform/repository.yaml allows.
ARG BASE
FROM ${BASE}
USER root
RUN getent passwd 1000 || useradd --uid 1000 --create-home trainer
RUN python -m pip install --no-cache-dir joblib==1.6.0
WORKDIR /workspace
COPY recommender.py recommender_ray.py ./
USER 1000:1000
