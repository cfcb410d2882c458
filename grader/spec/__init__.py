"""YAML → Assignment."""
