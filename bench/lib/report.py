"""Results as tables on standard output and as files below bench/results/."""

import json
import os
from dataclasses import dataclass, field


@dataclass
class Goal:
    """What a suite was to show, and whether it did."""

    text: str
    measured: str
    met: bool


@dataclass
class Result:
    """What one suite found: tables (title, header, rows), goals and raw figures."""

    suite: str
    about: str
    tables: list = field(default_factory=list)
    goals: list = field(default_factory=list)
    raw: dict = field(default_factory=dict)


def markdown(facts, results):
    """The whole report."""
    parts = [_heading(facts), _goals(results)]
    for result in results:
        parts.append(f"## {result.suite}\n\n{result.about}\n")
        for title, header, rows in result.tables:
            parts.append((f"{title}\n\n" if title else "") + _table(header, rows))
    return "\n".join(parts)


def write(target, facts, results):
    """Writes README.md and raw.json into the folder `target`."""
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(target, "README.md"), "w") as file:
        file.write(markdown(facts, results))
    raw = {"machine": facts, "suites": {result.suite: _raw(result) for result in results}}
    with open(os.path.join(target, "raw.json"), "w") as file:
        json.dump(raw, file, ensure_ascii=False)
        file.write("\n")
    return target


def _raw(result):
    goals = [vars(goal) for goal in result.goals]
    return {**result.raw, "goals": goals}


def _heading(facts):
    memory = facts["memory_bytes"] / (1 << 30)
    lines = [
        f"# Benchmark of {facts['commit']}",
        "",
        f"{facts['cpu']}, {facts['cores']} cores, {memory:.0f} GiB, {facts['system']}, "
        f"Linux {facts['kernel']}; load {facts['load_at_start']:.2f} at the start; "
        f"`bench/run {' '.join(facts['arguments'])}`.",
        "",
        "Programs: " + "; ".join(facts["versions"].values()) + ".",
        "",
        "Medians, in parentheses the smallest and the largest run.",
        "",
    ]
    return "\n".join(lines)


def _goals(results):
    rows = [
        [goal.text, goal.measured, "yes" if goal.met else "**NO**"]
        for result in results
        for goal in result.goals
    ]
    if not rows:
        return ""
    return "## Goals\n\n" + _table(["goal", "measured", "met"], rows)


def _table(header, rows):
    """A Markdown table, its columns aligned so that it reads well as plain text, too."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [_line(header, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    lines.extend(_line(row, widths) for row in rows)
    return "\n".join(lines) + "\n"


def _line(cells, widths):
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |"
