# Built in this folder:
#   docker build --file allreduce.Dockerfile --build-arg BASE=<image> .
# BASE: a Debian or Ubuntu image; by digest, from a registry that platform/repository.yaml allows.
#
# The image is what docs/jobs.md asks of mpirun's: Open MPI, ssh and sshd, python, and user 1000 in /etc/passwd.
ARG BASE
FROM ${BASE}
USER root
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        openmpi-bin openssh-client openssh-server python3-mpi4py python-is-python3 \
    && rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_* \
    && (getent passwd 1000 || useradd --uid 1000 --create-home --shell /bin/sh trainer)
WORKDIR /workspace
COPY allreduce.py ./
USER 1000:1000
