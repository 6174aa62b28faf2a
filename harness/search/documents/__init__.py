"""Readers: a file of any supported kind becomes one Document in Markdown."""
