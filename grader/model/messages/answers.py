"""Explanations of an answer and of slips that lead to a wrong one; the words of a sheet with questions.

Texts on why a sheet with answers cannot be read, and why an answer is none, are here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANSWERS: Mapping[str, str] = {
    "answer-worked-out": "{expression} = {value}",
    "answer-worked-out-unit": "{expression} = {value} {unit}",
    "answer-unit-taken-as": "1 {unit} taken as {bytes:,} bytes",
}

_LAUNCH: Mapping[str, str] = {
    "step-along": "along {axis} there are ceil({extent:,} / {block}) = {blocks:,} blocks",
    "step-together": "together {factors} = {blocks:,} blocks",
    "step-block-threads": "each has {size:,} threads: {blocks:,} · {size:,} = {threads:,} threads",
    "step-elements": "there are {factors} = {elements:,} elements",
    "step-idle": "{threads:,} - {elements:,} = {idle:,} have none",
    "step-covered": (
        "{whole:,} of them are covered wholly (quotients rounded down); {blocks:,} - {whole:,} = {rest:,} "
        "stick out"
    ),
    "step-bytes-read": (
        "for each {times} of {size} bytes are read: {elements:,} · {times} · {size} = {total:,} bytes"
    ),
    "step-bytes-written": (
        "for each {times} of {size} bytes are written: {elements:,} · {times} · {size} = {total:,} bytes"
    ),
    "step-warps": "the last warp may lack threads: ceil({size} / 32) = {warps} warps",
    "step-work-of-each": (
        "for each element {work} operations, ({reads} + {writes}) · {size} = {moved} bytes"
    ),
    "step-intensity": "{work} / {moved} = {value} operations for each byte",
    "step-threads-of-a-block": "a block has {size:,} threads",
    "step-operations": "{elements:,} · {work} = {total:,} operations",
}

_PRODUCT: Mapping[str, str] = {
    "step-along-x": "along x there are ceil(N / tile) = ceil({size} / {tile}) = {blocks} blocks",
    "step-along-y": "along y there are ceil(M / tile) = ceil({size} / {tile}) = {blocks} blocks",
    "step-phases": "a block works in ceil(K / tile) = ceil({size} / {tile}) = {phases} phases",
    "step-inside": (
        "{wide} · {high} = {whole:,} of them lie inside C with all their threads ({n} // {tile} = {wide} "
        "along x, {m} // {tile} = {high} along y)"
    ),
    "step-stick-out": "the others stick out: {blocks:,} - {whole:,} = {rest:,}",
    "step-tile-threads": "each has {tile} · {tile} = {size:,} threads: {blocks:,} · {size:,} = {threads:,}",
    "step-owners": "C has M · N = {m} · {n} = {owners:,} elements, and each has one thread",
    "step-no-owners": "the others have none: {threads:,} - {owners:,} = {left:,}",
    "step-columns-before": (
        "the {count} before the last cover {count} · {tile} = {before} columns, 0 to {end}"
    ),
    "step-rows-before": "the {count} before the last cover {count} · {tile} = {before} rows, 0 to {end}",
    "step-first-is-last": "the first block is the last one",
    "step-last-covers": "the last covers {size} - {before} = {rest} of {tile}, {before} to {end}",
    "step-barriers": "each thread comes to two barriers in a phase: 2 · {phases} · {threads:,} = {total:,}",
    "step-tile-bytes": "a tile has {tile} · {tile} = {floats:,} floats of 4 bytes: {bytes:,} bytes",
    "step-two-tiles": "a tile of A and a tile of B: 2 · {bytes:,} = {total:,} bytes",
    "step-shared-stores": (
        "in each phase every thread stores 2 floats, zeros included: {threads:,} · {phases} · 2 · 4 = "
        "{total:,} bytes"
    ),
    "step-shared-loads": (
        "in each phase every thread reads a row and a column of {tile} floats: {threads:,} · {phases} · 2 · "
        "{tile} · 4 = {total:,} bytes"
    ),
    "step-a-loads": (
        "each of the {rows} · {columns} elements of A is loaded once for every block along x: "
        "{rows} · {columns} · {blocks} = {loads:,} loads"
    ),
    "step-b-loads": (
        "each of the {rows} · {columns} elements of B is loaded once for every block along y: "
        "{rows} · {columns} · {blocks} = {loads:,} loads"
    ),
    "step-four-bytes": "4 bytes each: {loads:,} · 4 = {total:,} bytes",
    "step-four-bytes-of-both": "4 bytes each: ({a:,} + {b:,}) · 4 = {total:,} bytes",
    "step-beyond-edge": "threads beyond an edge load nothing and put 0 into the tile",
    "step-who-stores": "only threads that have an element of C store, once, after the last phase",
    "step-stores": "M · N · 4 = {m} · {n} · 4 = {total:,} bytes",
    "step-warp-in-row": (
        "a warp is 32 threads in a row of the block, x first: all of it lies in one row of the tile"
    ),
    "step-warp-mostly": (
        "a warp is 32 threads in a row of the block, x first: mostly in one row of the tile"
    ),
    "step-warp-rows": (
        "a warp is 32 threads in a row of the block, x first: it takes {rows} rows of a tile of {tile}"
    ),
    "step-sectors": (
        "a warp's request takes every 32-byte sector (8 floats) that one of its active threads asks for"
    ),
    "step-sectors-of-tiles": (
        "counted warp by warp over all tiles of A, for each block along x, and of B, for each block along y"
    ),
    "step-sectors-of-c": "counted warp by warp over C, which is stored once",
    "step-sectors-of-naive": (
        "counted warp by warp over all steps along K, one load from A and one from B in each"
    ),
    "step-owner-flops": (
        "an owner multiplies and adds K = {k} times, which are 2 · {k} = {flops} operations"
    ),
    "step-phase-flops": (
        "in each phase every thread multiplies and adds {tile} times, zeros included: {phases} · {tile} · 2 "
        "= {flops} operations"
    ),
    "step-all-flops": "{threads:,} · {flops} = {total:,} operations",
    "step-needed-flops": "the product needs 2 · M · N · K = 2 · {m} · {n} · {k} = {total:,} operations",
    "step-flops-by-bytes": "{total:,} / {moved:,} = {value} operations for each byte that is read",
    "step-naive-reads": (
        "without tiles every owner reads a row of A and a column of B itself: 2 · K = {floats} floats"
    ),
    "step-naive-bytes": "{owners:,} · {floats} · 4 = {total:,} bytes",
    "step-naive-intensity": (
        "for each multiplication and addition, 2 operations, a thread reads two floats, 8 bytes"
    ),
    "step-naive-quarter": "2 / 8 = 0.25 operations for each byte, whatever the sizes are",
    "step-quotient": "{first:,} / {second:,} = {value}",
    "step-columns-left": "{size} % {tile} = {left} columns are left over beside whole tiles",
    "step-rows-left": "{size} % {tile} = {left} rows are left over beside whole tiles",
    "step-tile-squared": "tile · tile = {tile} · {tile} = {size:,} threads",
}

_OCCUPANCY: Mapping[str, str] = {
    "step-block-warps": "a block of {threads} threads has ceil({threads} / 32) = {warps} warps",
    "step-by-threads": "{threads:,} threads are {most} warps: {most} // {warps} = {blocks} blocks",
    "step-no-registers": "nothing is said of registers, so they limit nothing",
    "step-warp-registers": "a warp takes {registers} · 32 = {total:,} registers",
    "step-warp-registers-in-units": (
        "a warp takes {registers} · 32 = {total:,} registers, in units of {unit}: {units:,}"
    ),
    "step-registers": "the multiprocessor has {file:,} registers for {file:,} // {units:,} = {held} warps",
    "step-registers-of-partitions": (
        "each of the {parts} partitions has {file:,} registers for {file:,} // {units:,} = {held} warps, "
        "together {total}"
    ),
    "step-blocks-of-warps": "{held} // {warps} = {blocks} blocks",
    "step-no-shared": "nothing is said of shared memory, so it limits nothing",
    "step-block-bytes": "a block takes {bytes:,} bytes",
    "step-reserved-bytes": "the system takes {bytes:,} more for each block",
    "step-in-units": "in units of {unit} these are {bytes:,} bytes",
    "step-by-shared": "{bytes:,} // {units:,} = {blocks} blocks",
    "step-no-block": "so no block fits",
    "step-most-blocks": "no more than {blocks} blocks in any case",
    "step-smallest": "the smallest of these limits is {blocks} blocks",
    "step-occupancy": (
        "{blocks} · {warps} = {active} of {most} warps are active: {active} / {most} = {share}, or "
        "{percent} %"
    ),
    "step-most-threads": "a block may have {most:,} threads, and this one has {threads:,}",
    "step-most-shared": "a block may have {most:,} bytes of shared memory, and this one takes {bytes:,}",
    "step-launchable": "it can be launched",
    "step-not-launchable": "it cannot be launched",
}

_SLIPS: Mapping[str, str] = {
    "slip-rounded-down": "quotients are rounded down: a part of a block takes a block",
    "slip-beyond-edge": "threads beyond the edge are counted, and they do nothing",
    "slip-x-and-y": "x and y are exchanged",
    "slip-read-and-written": "bytes that are read and bytes that are written are mixed up",
    "slip-whole-tiles": (
        "only whole tiles are counted: a partial tile at the edge takes a block, and a phase, as well, so "
        "that quotients are rounded up"
    ),
    "slip-padded": (
        "this counts the edges as if the matrices were padded to whole tiles: threads beyond an edge neither "
        "load nor store, they put zeros into the tile"
    ),
    "slip-rows-and-columns": (
        "rows and columns are exchanged: blocks along x follow the columns of C (N), blocks along y its rows "
        "(M)"
    ),
    "slip-k-and-n": "the sizes K and N are mixed up: A has M rows and K columns, B has K rows and N columns",
    "slip-k-and-m": "the sizes K and M are mixed up: A has M rows and K columns, B has K rows and N columns",
    "slip-once": "this reads each matrix once: every block loads its own copy of the tiles that it needs",
    "slip-a-only": "this counts A only: tiles of B are loaded, too",
    "slip-b-only": "this counts B only: tiles of A are loaded, too",
    "slip-naive": "this is what the naive kernel loads, without tiles",
    "slip-loaded": "this is what is loaded, not what is stored",
    "slip-stored": "this is what is stored, not what is loaded",
    "slip-owners": (
        "owners and all threads are mixed up: the threads beyond the edges of C compute, too, if nothing "
        "stops them"
    ),
    "slip-remainder": "this is a remainder; where it is 0 the last block covers a whole tile",
    "slip-one-tile": "this is one of the two tiles: a block holds a tile of A and a tile of B",
    "slip-no-registers": "registers are left out: they are a limit, too",
    "slip-no-shared": "shared memory is left out: it is a limit, too",
    "slip-no-reserved": "the {bytes:,} bytes are left out that the system takes for each block",
    "slip-no-limit-on-blocks": (
        "the limit on blocks is left out: a multiprocessor holds only so many, however small they are"
    ),
    "slip-only-threads": "only the limit on threads is looked at",
    "slip-only-registers": "only the limit on registers is looked at",
    "slip-only-shared": "only the limit on shared memory is looked at",
}

_SCALES: Mapping[str, str] = {
    "slip-elements": "this counts elements, not bytes: a float has 4 bytes",
    "slip-four-times": "this is four times too much: are bytes multiplied by 4 once too often?",
    "slip-bits": "this counts bits: a byte has 8",
    "slip-one-operation": "this counts a multiplication and an addition as one operation; they are two",
    "slip-four-operations": (
        "this counts every operation twice: a multiplication and an addition are two, not four"
    ),
    "slip-each-float": "this is for each float that is read: a float has 4 bytes",
    "slip-share": "this is a share: as a percentage it is 100 times as much",
    "slip-thousandth": (
        "this is 1,000 times too small: a point is a decimal point here, or the unit is another one"
    ),
    "slip-thousand": "this is 1,000 times too much: check the unit",
    "slip-1024th": "this is 1,024 times too small: check the unit",
    "slip-1024": "this is 1,024 times too much: check the unit",
    "slip-twice": "this is twice as much as it should be",
    "slip-half": "this is half of what it should be",
    "slip-upside-down": "this is turned upside down",
}

WORKED_OUT: Mapping[str, str] = {**_ANSWERS, **_LAUNCH, **_PRODUCT, **_OCCUPANCY, **_SLIPS, **_SCALES}
"""Texts by name; ``step-`` begins the names of a step, ``slip-`` those of a mistake."""


_DOCUMENT: Mapping[str, str] = {
    "document-empty": "the file is empty; expected {expected}",
    "document-second": "a second document starts here; expected one to a file",
    "document-alias": "`*{name}` is an alias; write the value out instead",
    "document-deep": "nested more than {most} deep",
    "document-anchor": "`&{name}` is an anchor; expected a plain value",
    "document-tag": "`{name}` is a tag; expected a plain value",
    "document-nameless": "expected a name before the colon",
    "document-twice": "`{name}` is given twice, first in line {line}",
    "document-character": "character {character} is not allowed in YAML",
    "document-tab": "a tab is here; expected blanks, for YAML takes no tabs before a value",
    "document-colon": (
        "no colon is expected here; a text with a colon in it needs quotes, and the keys of a level begin in "
        "the same column"
    ),
    "document-no-yaml": "not valid YAML: {problem}",
    "document-no-text": "not UTF-8 text",
}
"""Faults of a YAML file; ``problem`` is what its parser says."""

_SHEET: Mapping[str, str] = {
    "sheet-unreadable": "the answers cannot be read: {reason}",
    "sheet-answers": "answers",
    "sheet-wanted": "`answers:` with a number for each question",
    "sheet-large": "the file has {bytes:,} bytes; expected at most {most:,}",
    "sheet-deep": "it is nested too deeply",
    "sheet-no-json": "not valid JSON: {problem}",
    "sheet-no-json-from-line": "not valid JSON in line {line}: {problem}",
    "sheet-twice": "`{key}` is given twice",
    "sheet-no-answers": "expected {wanted}; `grader questions` prints a sheet to fill in",
    "sheet-strange-key": "`{key}` does not belong here; answers stand below `answers:`",
    "sheet-is-list": "expected {wanted}, and found a list",
    "sheet-is-text": "expected {wanted}, and found a text",
    "sheet-many": "expected at most {most:,} answers, found {number:,}",
    "sheet-list": "a list",
    "sheet-mapping": "a mapping",
}

_NO_ANSWER: Mapping[str, str] = {
    "number-wanted": "expected a number such as 64,704 or 4.72e6 or 1/16, with a unit if you like",
    "number-long": "this is longer than a number: {wanted}",
    "number-comma": "a comma separates thousands here: write the fraction with a point, 3.5",
    "number-power": "a power of ten beyond {most} is not believed: {wanted}",
    "number-by-zero": "nothing can be divided by 0",
    "number-unit": "the unit `{written}` is not understood: expected {unit}",
    "number-no-unit": "the unit `{written}` is not understood: expected a number without a unit",
    "no-question": "`{name}` is no question of this assignment",
    "drawn-for": (
        "the numbers are those of `{student}`, after the name of what was handed in; for a self-check write "
        "whose they are into the file, as `student: NAME`"
    ),
    "drawn-for-other": "the sheet is that of `{named}`, the numbers are those of `{student}`",
    "drawn-for-somebody": "the sheet belongs to another student than the one who handed it in",
}
"""Texts about an answer, and about the numbers that its question has."""

_QUESTIONS: Mapping[str, str] = {
    "questions-for": "{title}: questions for {student}",
    "questions-points": "{points} points",
    "questions-points-one": "{points} point",
    "questions-together": "{points} for {number} together",
    "questions-own": "{points}, your own numbers",
    "questions-fill-in": "Fill in and hand in as {file}:",
    "questions-number": "a number",
}

SHEETS: Mapping[str, str] = {**_DOCUMENT, **_SHEET, **_NO_ANSWER, **_QUESTIONS}
"""Texts by name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""
