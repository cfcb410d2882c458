"""Machine code of NVIDIA's GPUs: read from the output of nvdisasm, and run on some blocks of a launch."""
