"""Every mistake that has a name, and all that is said of it, which staff may put otherwise.

``texts.yaml`` holds the texts of mistakes that more than one operation can show; those of one operation are
in its ``reference/<operation>/feedback.yaml``. An assignment's ``feedback:`` names a file of the same format
with other texts (in another language, say).
"""

from grader.mistakes.bundled import Bundled, Mistake, bundled
from grader.mistakes.texts import FIELDS, Texts, allowed_places, places, texts

__all__ = ["FIELDS", "Bundled", "Mistake", "Texts", "allowed_places", "bundled", "places", "texts"]
