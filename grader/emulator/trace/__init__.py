"""Tracing: one launch with everything written down that one block does."""
