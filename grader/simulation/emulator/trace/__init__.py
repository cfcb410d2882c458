"""Tracing: one launch with a record of all actions of one block."""
