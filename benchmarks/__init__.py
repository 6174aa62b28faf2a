"""Measurements on real data; nothing here ships in the wheel."""
