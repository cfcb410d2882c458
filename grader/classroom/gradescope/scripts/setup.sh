#!/bin/bash
# What Gradescope runs once, when the image of the autograder is built: as root, in Debian or Ubuntu.
# What is there already is not fetched, so that this also works without a network (PIP_NO_INDEX, PIP_FIND_LINKS).
set -euo pipefail
source=/autograder/source
home=/opt/cuda-grader

new_enough() {
    command -v "$1" >/dev/null &&
        "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}
find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if new_enough "$name"; then echo "$name"; return; fi
    done
}
have_all() {
    for name; do command -v "$name" >/dev/null || return 1; done
}
fetch() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

python=$(find_python)
if ! have_all g++ setpriv prlimit || [[ -z $python ]]; then
    apt-get update
    fetch g++ util-linux
    fetch bubblewrap || echo "without bubblewrap: students' code is another user all the same"
    [[ -n $python ]] || fetch python3 python3-venv
    python=$(find_python)
    [[ -n $python ]] || fetch python3.11 python3.11-venv
    python=$(find_python)
fi

# The grader is for everybody to read; what is the staff's stays in a folder of root's own.
rm -rf "$home"
mkdir -p "$home"
cp -r "$source/program" "$home/program"
"$python" -m venv "$home/venv"
"$home/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$source/requirements.txt"
"$python" "$home/program/grader/toolchain/core_library.py" || echo "without the native core kernels take longer, and no speed is estimated"
chmod -R go+rX,go-w "$home"
chmod 0700 "$source"

# The staff's own solution must have full marks here, or no student could.
cd / && PYTHONPATH="$home/program" "$home/venv/bin/python" -P -m grader.classroom.gradescope.run --prove "$source"
