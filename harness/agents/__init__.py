"""Who can take a role: built-in rules, a person, a program, a model behind an API."""
