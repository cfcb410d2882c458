"""Machine code of NVIDIA's GPUs: read from what nvdisasm prints, and run on some blocks of a launch."""
