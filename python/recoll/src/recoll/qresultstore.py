"""Recoll's module for stored results."""

from ._store import QResultStore, QRSDoc

__all__ = ["QRSDoc", "QResultStore"]
