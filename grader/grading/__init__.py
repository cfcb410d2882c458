"""From an assignment's YAML and a submission's files to judged items: all that decides points."""
