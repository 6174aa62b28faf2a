"""Text of the case files ↔ values: parse(render(v)) = v, and render(parse(t)) keeps what it does not know."""
