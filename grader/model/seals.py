"""Checksums of files that are read back: in front of a JSON object's text, and behind that of a page.

They are CRC-32 (ITU-T V.42), which notices every flipped bit, every run of damage of up to 32 bits, and all
but one in four billion of anything else. They are against disks and copies, and not against forgers: a forger
who may write a file can compute its checksum, too.
"""

from __future__ import annotations

import re
import zlib

_IN_FRONT = re.compile(r'\{"checksum":"([0-9a-f]{8})",')
_BEHIND = re.compile(r"(?:<!-- of ([0-9a-f]{8}) -->\n)?(<!-- checksum ([0-9a-f]{8}) -->\n)\Z")
LONGEST = len('{"checksum":"01234567",')
"""Characters of the beginning of an object's text, in which its checksum is."""


def checksum(content: bytes | str) -> str:
    """The CRC-32 of bytes, or of a text as it is written to a file, as eight digits."""
    written = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    return f"{zlib.crc32(written):08x}"


def sealed(text: str) -> str:
    """A JSON object that has keys, as a text with the checksum of all that follows as its first key."""
    rest = text.removeprefix("{")
    return f'{{"checksum":"{checksum(rest)}",{rest}'


def is_intact(text: str) -> bool | None:
    """True if an object's text is what `sealed` made of it; None where there is no checksum in it."""
    seal = _IN_FRONT.match(text)
    return checksum(text[seal.end() :]) == seal[1] if seal else None


def seal_of(text: str) -> str:
    """The checksum that an object's text begins with; empty where there is none."""
    seal = _IN_FRONT.match(text)
    return seal[1] if seal else ""


def sealed_page(text: str, of: str = "") -> str:
    """A page with the checksum of all that is before it as a comment in the last line.

    ``of`` is the checksum of the object that the page was made of, which a line before that says.
    """
    whole = f"{text}<!-- of {of} -->\n" if of else text
    return f"{whole}<!-- checksum {checksum(whole)} -->\n"


def is_page_intact(text: str, of: str = "") -> bool | None:
    """True if a page is what `sealed_page` made of it; None where there is no checksum in it.

    One that was made ``of`` another object is not; one that does not say of which may be.
    """
    seal = _BEHIND.search(text)
    if seal is None:
        return None
    return checksum(text[: seal.start(2)]) == seal[3] and seal[1] in (None, of)
