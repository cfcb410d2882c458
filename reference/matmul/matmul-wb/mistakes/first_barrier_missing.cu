// Tiles are read before all of them are there.
#include <wb.h>

#define TILE 16

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
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < numAColumns; first += TILE) {
        int a = first + threadIdx.x, b = first + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < numARows && a < numAColumns ? A[row * numAColumns + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < numBRows && col < numBColumns ? B[b * numBColumns + col] : 0.0f;
        for (int k = 0; k < TILE; ++k) sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    if (row < numCRows && col < numCColumns) C[row * numCColumns + col] = sum;
}

int main(int argc, char **argv) {
    wbArg_t args = wbArg_read(argc, argv);
    int numARows, numAColumns, numBRows, numBColumns;

    wbTime_start(Generic, "Importing data and creating memory on host");
    float *hostA = (float *)wbImport(wbArg_getInputFile(args, 0), &numARows, &numAColumns);
    float *hostB = (float *)wbImport(wbArg_getInputFile(args, 1), &numBRows, &numBColumns);
    int numCRows = numARows, numCColumns = numBColumns;
    size_t bytesA = sizeof(float) * numARows * numAColumns, bytesB = sizeof(float) * numBRows * numBColumns;
    size_t bytesC = sizeof(float) * numCRows * numCColumns;
    float *hostC = (float *)malloc(bytesC);
    wbTime_stop(Generic, "Importing data and creating memory on host");
    wbLog(TRACE, "A is ", numARows, " x ", numAColumns, ", B is ", numBRows, " x ", numBColumns);

    float *deviceA, *deviceB, *deviceC;
    wbCheck(cudaMalloc((void **)&deviceA, bytesA));
    wbCheck(cudaMalloc((void **)&deviceB, bytesB));
    wbCheck(cudaMalloc((void **)&deviceC, bytesC));
    wbCheck(cudaMemcpy(deviceA, hostA, bytesA, cudaMemcpyHostToDevice));
    wbCheck(cudaMemcpy(deviceB, hostB, bytesB, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE), grid((numCColumns + TILE - 1) / TILE, (numCRows + TILE - 1) / TILE);
    wbTime_start(Compute, "Performing CUDA computation");
    matrixMultiply<<<grid, block>>>(deviceA, deviceB, deviceC, numARows, numAColumns, numBRows, numBColumns,
                                    numCRows, numCColumns);
    wbCheck(cudaGetLastError());
    wbCheck(cudaDeviceSynchronize());
    wbTime_stop(Compute, "Performing CUDA computation");

    wbCheck(cudaMemcpy(hostC, deviceC, bytesC, cudaMemcpyDeviceToHost));
    wbCheck(cudaFree(deviceA));
    wbCheck(cudaFree(deviceB));
    wbCheck(cudaFree(deviceC));
    wbSolution(args, hostC, numCRows, numCColumns);
    free(hostA);
    free(hostB);
    free(hostC);
    return 0;
}
