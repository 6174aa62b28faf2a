"""The only writer of a case: snapshots in, one atomic write out."""

from harness.store.case import Base, Store
from harness.store.snapshot import Snapshot

__all__ = ["Base", "Snapshot", "Store"]
