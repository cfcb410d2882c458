// A list for each thread on the device's heap, built, walked and freed.
struct Node {
    int value;
    Node* next;
};

__global__ void kernel(const int* in, int* out, int each, int threads) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads) return;
    Node* first = nullptr;
    for (int i = 0; i < each; ++i) {
        Node* node = (Node*)malloc(sizeof(Node));
        node->value = in[t * each + i];
        node->next = first;
        first = node;
    }
    for (int i = 0; first; ++i) {
        out[t * each + i] = first->value;
        Node* done = first;
        first = first->next;
        free(done);
    }
}
