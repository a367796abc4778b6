"""The composition root: the only place that knows what implements what.

In: the settings and a clock. Out: a Home, which shells hold; `home.py` offers its parts, the other modules wire one
part each. It never decides what is worth keeping, and has no behaviour of its own.
"""

from reverie.app.home import Home
from reverie.app.open import check_backup, checkup, open_home, restore_home, try_models

__all__ = ["Home", "check_backup", "checkup", "open_home", "restore_home", "try_models"]
