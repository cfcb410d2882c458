"""Pencil-and-paper analysis of a launch: bytes, operations, blocks, occupancy, with the steps.

A *subject* is the topic of a question: a matrix product by tiles (`matmul`), a launch over any extent
(`launch`), the blocks that a multiprocessor holds at once (`occupancy`), or bare numbers (`numbers`). Given
its numbers it has named *quantities*: a value, a unit and the worked explanation. The counters of the
emulator agree exactly with those of the same name. A *misconception* is the same model with one step done
wrong: a student who answers with its value has probably made that mistake.
"""
