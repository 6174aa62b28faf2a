"""A file-based research harness: two narrow roles take turns over a handful of plain files."""

__version__ = "0.1.0"
