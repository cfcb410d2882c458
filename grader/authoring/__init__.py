"""Assignments and machines prove themselves: `validation` of an assignment, `doctor` of a machine."""
