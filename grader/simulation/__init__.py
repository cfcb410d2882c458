"""Code without a device: PTX and machine code, parsed, executed, analysed. It knows nothing of grading."""
