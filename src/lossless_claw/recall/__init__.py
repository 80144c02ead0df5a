"""Finding and reading again what was ever stored: grep, describe, expand, ask.

Whoever calls says which conversations may be seen; nothing here widens that (G8), calls a model
or writes.
"""
