"""Cutting a text that does not fit into parts that do, along its own structure."""

from harness.cutting.parts import SMALLEST, Cut, cut

__all__ = ["SMALLEST", "Cut", "cut"]
