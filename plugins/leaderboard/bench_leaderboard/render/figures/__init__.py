"""Figures as SVG: legible on light and dark pages, distinguishable without colour, the same bytes on every machine.

Every function takes numbers and returns bytes; matplotlib is imported when the first figure is drawn.
"""
