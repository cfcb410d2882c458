"""Every mistake that has a name, and all that is said of it, which staff may put otherwise.

``texts.yaml`` holds the texts of mistakes that more than one operation can show; those of one operation are
in its ``reference/<operation>/feedback.yaml``. An assignment's ``feedback:`` names a file of the same format
with other texts (in another language, say).
"""

from grader.mistakes.texts import (
    FIELDS,
    BundledTexts,
    MistakeTexts,
    Texts,
    allowed_placeholders,
    bundled_texts,
    placeholders,
    texts_of_course,
)

__all__ = [
    "FIELDS",
    "BundledTexts",
    "MistakeTexts",
    "Texts",
    "allowed_placeholders",
    "bundled_texts",
    "placeholders",
    "texts_of_course",
]
