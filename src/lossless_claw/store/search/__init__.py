"""Filling the search indexes (`indexing`) and asking them (`search`), and what both rest on.

Nothing is imported here: a turn fills indexes without paying for what only questions need.
"""
