"""The state of the threads that run side by side, and the scheduling of them."""
