"""The device that a whole program talks to where there is no GPU: memory, streams, launches on the emulator.

program + stand-in ─messages─▶ protocol ─records─▶ calls ─▶ memory, launches, clock
"""
