// The name that the header had before version 3 of NVTX.
#include "nvtx3/nvToolsExt.h"
