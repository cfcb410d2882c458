# Three images. `build` and `gpu` are for strangers' code, and `grader doctor --build-image` builds them: `build` has a
# C++ compiler, Python and the CUDA compiler; `gpu` has what runs on a GPU on top of it. Both are made from nothing, of
# the files that sandbox/image/wanted*.txt name: no package manager, no shell but sh.
# `grader` is for students' own machines, x86-64 and aarch64, and `make image` builds it: the program as they install
# it, the CUDA compiler, and a small Debian, so that an editor or a CI job can live in it.
ARG BASE=debian:bookworm-slim

# nvcc wants neither a C compiler nor link-time optimisation.
FROM ${BASE} AS host
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      g++ libpython3-stdlib python3-minimal \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /usr/lib/gcc/*/*/cc1 /usr/lib/gcc/*/*/lto1

FROM host AS tools
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-pip \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt

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

# The last one, for an engine without BuildKit makes all that stand before a target. PyPI is asked for what
# constraints.txt pins; another index, or one with a certificate of its own, is an argument of the build.
FROM tools AS program
ARG PIP_INDEX_URL
ARG PIP_TRUSTED_HOST
COPY constraints.txt build/wheel/ /recipe/
RUN python3 -m pip install --no-cache-dir --only-binary=:all: --no-warn-script-location \
      --target /site -c /recipe/constraints.txt /recipe/*.whl \
 && python3 /site/grader/toolchain/core_library.py

# A Codespace has no git but this one. Its root is not who owns the student's folder.
FROM host AS grader
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt \
 && git config --system safe.directory '*'
COPY --from=build /opt/cuda/ /opt/cuda/
COPY --from=program /site/ /usr/local/lib/python3.11/dist-packages/
COPY sandbox/image/own.py /usr/local/bin/grader
ENV PATH=/opt/cuda/bin:/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 XDG_CACHE_HOME=/tmp/cache
WORKDIR /w
ENTRYPOINT ["grader"]
