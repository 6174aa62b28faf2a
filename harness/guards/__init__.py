"""What the code checks in every reply, as small rules in a table per role, and what it puts right itself."""
