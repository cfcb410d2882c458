"""Comparison of results with the oracle: of launches, and of what programs wrote."""
