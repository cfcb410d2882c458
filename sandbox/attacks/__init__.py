"""The battery of attacks: `grader doctor --attack` grades each one and looks for what comes of it.

It is a tool of the repository and no part of the package: whoever only checks a file gets no attacks.
"""
