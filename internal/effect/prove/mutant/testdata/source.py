#!/usr/bin/env python3
"""A module: x == 1."""
import os
from math import floor

RATES = {
    "low": 0.05,
    "high": 2,
}


class Cart:
    """Has items."""

    def __init__(self, items=None):
        self.items = items or []

    @property
    def total(self):
        """The sum of all, or 0.

        if x: y == 1
        """
        total = 0
        for item in self.items:
            if item.price > 10 and not item.free:
                continue
            total += item.price * item.count
        return total if total >= 0 else 0

    def add(self, item):
        if item in self.items:
            raise ValueError("already there: 1")
        self.items.append(item)
        logging.info("added %s", item)
        self.name = "cart" + 'x'


async def load(
    path,
    strict=True,
):
    if path is not None:
        data = f"{path}/x" if strict else ""
        return floor(len(data) / 2)
    time.sleep(5)
    return None


if __name__ == "__main__":
    load("x")
