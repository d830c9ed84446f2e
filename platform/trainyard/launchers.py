"""What packages need that bring their own launchers; defined below `trainyard.render` and `trainyard.specs`."""

from trainyard.render.launchers import NEEDS, Launch, Launcher, Role, Wiring, launchers
from trainyard.render.launchers.commands import program
from trainyard.render.sizing import Sizing
from trainyard.specs.run import Run

__all__ = ["NEEDS", "Launch", "Launcher", "Role", "Run", "Sizing", "Wiring", "launchers", "program"]
