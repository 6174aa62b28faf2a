"""`harness report`: a case as one page, as Markdown or as JSON."""
