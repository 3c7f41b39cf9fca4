"""Sample."""
from __future__ import annotations
import os, sys as system
import a.b.c
from . import sibling
from .x import y as z, w
from ..pkg.mod import *
from collections import (
    OrderedDict,
    defaultdict,
)

MAX_SIZE = 10
name: str = "x"
left, right = 1, 2

try:
    import ujson
except ImportError:
    ujson = None

if system.platform == "win32":
    def on_windows():
        pass


def decorator(f):
    def inner(*args):
        local = 1
        return f(*args)

    return inner


@decorator
@decorator
def decorated(
    a,
    b,
):
    import late.module
    return a


class Base:
    """Doc."""

    attr = 1
    typed: int

    def __init__(self):
        self.x = 1

    @property
    def prop(self):
        return self.x

    @staticmethod
    async def make():
        return Base()

    class Inner(Exception):
        def deep(self): return 1


async def main():
    pass

if __name__ == "__main__":
    main()
