"""`harness init`: wires the coding agents of this machine to the harness for one project, and takes it out again."""
