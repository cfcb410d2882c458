# The image in which strangers' code is compiled and run. Two targets: `build` has a C++ compiler, Python and the CUDA
# compiler; `gpu` has what runs on a GPU on top of it. `grader doctor --build-image` builds them; so does
#   docker build --network host --target build .
# Both are made from nothing, of the files that sandbox/image/wanted*.txt name: no package manager, no shell but sh.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS tools
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      g++ libpython3-stdlib python3-minimal python3-pip \
 && rm -rf /var/lib/apt/lists/*

# The hashes say what is fetched, so it does not matter who hands it over, a proxy with a certificate of its own included.
FROM tools AS toolkit
ENV PIP_TRUSTED_HOST="pypi.org files.pythonhosted.org" \
    PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_NO_DEPS=1 PIP_NO_WARN_SCRIPT_LOCATION=1 PIP_ROOT_USER_ACTION=ignore \
    PIP_ONLY_BINARY=:all: PIP_REQUIRE_HASHES=1 PIP_PROGRESS_BAR=off PIP_DISABLE_PIP_VERSION_CHECK=1
COPY sandbox/image/toolkit.txt /recipe/
RUN python3 -m pip install --target /wheels -r /recipe/toolkit.txt && mv /wheels/nvidia/cu13 /opt/cuda

FROM toolkit AS assembled
ENV SOURCE_DATE_EPOCH=1767225600
COPY sandbox/image/assemble.py sandbox/image/contents.py sandbox/image/wanted.txt /recipe/
RUN python3 /recipe/assemble.py /image /recipe/wanted.txt

FROM scratch AS build
COPY --from=assembled /image/ /
ENV PATH=/opt/cuda/bin:/usr/bin LC_ALL=C.UTF-8
USER 65532:65532
WORKDIR /job

# compute-sanitizer wants what belongs to it beside it, and its package has neither that nor the subreaper.
FROM assembled AS assembled-gpu
COPY sandbox/image/gpu.txt sandbox/image/subreaper.cpp sandbox/image/wanted-gpu.txt /recipe/
RUN packages=/usr/local/lib/python3.11/dist-packages sanitizer=/opt/cuda/compute-sanitizer \
 && python3 -m pip install --target $packages -r /recipe/gpu.txt \
 && mkdir $sanitizer && cp $packages/nvidia/cu13/lib/*.so $sanitizer && cp $packages/nvidia/cu13/bin/* $sanitizer \
 && g++ -O2 -s -o $sanitizer/TreeLauncherSubreaper /recipe/subreaper.cpp \
 && python3 /recipe/assemble.py /more --beside /image /recipe/wanted.txt /recipe/wanted-gpu.txt

FROM build AS gpu
COPY --from=assembled-gpu /more/ /
