"""find, as the floor of every walk: one stat per file and nothing else."""

from lib.process import Command, output


class Find:
    name = "find"

    def __init__(self, roots):
        self.roots = list(roots)

    def version(self):
        return output(Command(["find", "--version"])).splitlines()[0]

    def index(self):
        return Command(["find", *self.roots, "-type", "f", "-printf", "%s %T@\\n"])
