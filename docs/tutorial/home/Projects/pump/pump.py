"""Switches the pump of the cellar."""

LIMIT_CM = 12


def start(level_cm):
    """Starts the pump if the water is too high."""
    return level_cm > LIMIT_CM


def stop(level_cm):
    return level_cm < LIMIT_CM / 2
