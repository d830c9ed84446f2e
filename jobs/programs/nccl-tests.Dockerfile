# Built in this folder, where GPUs are not needed:
#   docker build --file nccl-tests.Dockerfile --build-arg BASE=<image> .
# BASE: a Debian or Ubuntu image with the CUDA compiler and NCCL with its headers; by digest, from a registry that
# platform/repository.yaml allows. For EFA one that has libfabric and the OFI plugin, too.
#
# The image is what docs/jobs.md asks of mpirun's: Open MPI, ssh and sshd, and user 1000 in /etc/passwd.
ARG BASE
FROM ${BASE} AS build
USER root
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends build-essential git libopenmpi-dev ca-certificates \
    && rm -rf /var/lib/apt/lists/*
# nccl-tests 2.19.6, whose commit stands here since a tag can move.
ARG NCCL_TESTS=a0b82b2260cf5152b9f8c061bbf7eaf0ba096432
WORKDIR /opt/nccl-tests
RUN git init --quiet . \
    && git fetch --quiet --depth 1 https://github.com/NVIDIA/nccl-tests.git ${NCCL_TESTS} \
    && git checkout --quiet FETCH_HEAD \
    && make --jobs 8 MPI=1 MPI_HOME="/usr/lib/$(uname -m)-linux-gnu/openmpi"

FROM ${BASE}
USER root
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends openmpi-bin openssh-client openssh-server \
    && rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_* \
    && (getent passwd 1000 || useradd --uid 1000 --create-home --shell /bin/sh trainer)
COPY --from=build /opt/nccl-tests/build /opt/nccl-tests/build
USER 1000:1000
