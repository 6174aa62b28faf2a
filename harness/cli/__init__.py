"""The commands. The only place that imports click; importing it does nothing."""
