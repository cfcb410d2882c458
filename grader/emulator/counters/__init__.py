"""Observers of a launch, and counting: traffic of the whole launch, or by source line."""
