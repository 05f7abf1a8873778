"""Medians, spreads, percentiles and how figures are printed."""

import math
import statistics


def median(values):
    return statistics.median(values)


def percentile(values, share):
    """The smallest value that at least `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def seconds(values):
    """`median (min–max)`; the spread only where there is one."""
    middle = _seconds(median(values))
    if len(values) < 2:
        return middle
    return f"{middle} ({_seconds(min(values))}–{_seconds(max(values))})"


def milliseconds(value):
    return f"{value * 1000:.1f}"


def size(count):
    return f"{count / (1 << 20):.0f} MiB"


def _seconds(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"
