"""Where sources come from: a folder of documents, a person, a program; each found, empty or blocked."""
