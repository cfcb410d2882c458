"""Memory: where arrays lie, where an address leads, reading and writing there."""
