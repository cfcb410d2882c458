"""A course around the grader: whose submission is whose, and how grades get back to where they came from."""
