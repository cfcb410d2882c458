"""Submissions of kind ``answers``: a file with a number for each question; nothing is compiled, nothing runs.

    Submission ─sheets▶ Sheet of texts ─numbers▶ readings ┐
    Assignment, seed, student ─solving▶ numbers, expected, steps, misconceptions ┴▶ Evidence

`stages` puts it together, and is loaded only where there are answers; `sheets` also is the way out: the
questions with a student's own numbers, and the file to be filled in.
"""
