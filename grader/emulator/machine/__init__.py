"""The state of the threads that run side by side, and who runs next."""
