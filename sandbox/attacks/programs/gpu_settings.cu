// Changes the device's settings by the driver's management library: clocks, power, who may use it, error counts.
// It sets nothing that was not so before, so that it does no harm where it is let.
//
// After it: each change was refused, for want of rights.
#include "attack.h"
#include <dlfcn.h>

static void* library = nullptr;

template <class... Arguments>
static int call(const char* name, Arguments... arguments) {
    void* function = dlsym(library, name);
    return function ? reinterpret_cast<int (*)(Arguments...)>(function)(arguments...) : -1;
}

static void changes(int result, const char* what) {
    errno = EPERM;
    attack::tried(result == 0, what);
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    cudaFree(nullptr);  // makes a context, so that the device is there
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    void* device = nullptr;
    unsigned mode = 0, power = 0, persistence = 0;
    if (library && call("nvmlInit_v2") == 0 && call("nvmlDeviceGetHandleByIndex_v2", 0u, &device) == 0) {
        if (call("nvmlDeviceGetComputeMode", device, &mode) == 0)
            changes(call("nvmlDeviceSetComputeMode", device, mode), "set who may compute");
        if (call("nvmlDeviceGetPowerManagementLimit", device, &power) == 0)
            changes(call("nvmlDeviceSetPowerManagementLimit", device, power), "set the power limit");
        if (call("nvmlDeviceGetPersistenceMode", device, &persistence) == 0)
            changes(call("nvmlDeviceSetPersistenceMode", device, persistence), "set persistence");
    }
    printf("tried: the management library is %s\n", device ? "there" : "not there");
    return !attack::write_result();
}
