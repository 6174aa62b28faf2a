"""`harness doctor`: what of this machine and this project the harness needs, and whether it is as it should be."""
