"""Machine code of NVIDIA's GPUs: read from the output of nvdisasm, and run on some blocks of a launch.

`listing` reads instructions, `linking` makes of each what the native library takes, and `interpreter` lets
lanes run: the library executes straight runs of instructions (`native/`), and where lanes go after a branch
or wait at a barrier is decided between them (`waiting`, `warps`).
"""
