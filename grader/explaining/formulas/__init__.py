"""Mutants of an oracle's formula: mistakes that a student may make in it, as changes of the staff's code."""
