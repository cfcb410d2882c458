"""Repairs for races and missing barriers, found by trying them."""
