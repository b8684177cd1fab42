"""The heap of a process that is about to fork: its children share it until they write to it."""

from __future__ import annotations

import ctypes
import gc
import sys

_LARGEST, _SMALLEST = 64 * 1024, 24
"""Bytes of the largest and the smallest holes that are filled."""

_HEADER = 8
"""Bytes that the C library adds to each block."""


def freeze_heap() -> None:
    """Prepare the heap for forks: children copy as few of its pages as possible."""
    _fill_holes()
    gc.freeze()  # a collection would touch, and so copy, pages shared with children


def _fill_holes() -> None:
    """Fill the free blocks between used ones, for ever.

    Otherwise each small block that a child allocates lies in another shared page, which is then copied for it.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.sbrk.restype, libc.sbrk.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
    end, size = libc.sbrk(0) or 0, _LARGEST
    while size >= _SMALLEST:
        while (libc.malloc(size - _HEADER) or end) < end:  # at the end there are no more holes of this size
            pass
        size = size * 3 // 4 if size > 1024 else size - 16
