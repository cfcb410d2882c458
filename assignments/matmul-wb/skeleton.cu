// Matrix multiplication with libwb: C = A * B.
#include <wb.h>

#define wbCheck(call)                                                                             \
    do {                                                                                          \
        cudaError_t status = (call);                                                              \
        if (status != cudaSuccess) {                                                              \
            wbLog(ERROR, "line ", __LINE__, ": ", cudaGetErrorString(status));                    \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

__global__ void matrixMultiply(float *A, float *B, float *C, int numARows, int numAColumns, int numBRows,
                               int numBColumns, int numCRows, int numCColumns) {
    // One thread computes one element of C: which one?
}

int main(int argc, char **argv) {
    wbArg_t args = wbArg_read(argc, argv);
    int numARows, numAColumns, numBRows, numBColumns;
    float *hostA = (float *)wbImport(wbArg_getInputFile(args, 0), &numARows, &numAColumns);
    float *hostB = (float *)wbImport(wbArg_getInputFile(args, 1), &numBRows, &numBColumns);

    // How many rows and columns has C? Take memory for it on the host.

    // Take memory on the device, and copy A and B there.

    // Launch the kernel with enough blocks, ask for errors, and wait.

    // Copy C back, free the device memory, and hand C in: wbSolution(args, hostC, numCRows, numCColumns).

    free(hostA);
    free(hostB);
    return 0;
}
