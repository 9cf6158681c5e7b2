"""What drafting gains on a GPU, simulated from measured acceptance lengths and a cost surface.

See docs/GPU.md. Nothing here decodes anything.
"""
