"""A research inside Claude Code: its sub-agents take the roles, its hooks bring packets and commit replies."""
