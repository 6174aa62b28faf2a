"""A file that git left with both sides of a conflict stands again as one side had it, before the two are merged."""

from __future__ import annotations

from harness.store.case import Store


def restore(store: Store, name: str, data: bytes | None) -> None:
    """One atomic write without a line in the trace, which may be the file itself. None removes the file."""
    with store._writing(name):
        if data is None:
            store.disk.unlink(store.folder / name)
        else:
            store._replace(store.folder / name, data)
        store.disk.sync_folder(store.folder)
