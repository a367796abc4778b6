"""Makes the pictures of docs/web.md anew, on the sample of `reverie demo`, with Chromium."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browsing import browse, morning_after, pages_of  # noqa: E402

if __name__ == "__main__":
    folder = ROOT / "docs" / "web"
    folder.mkdir(exist_ok=True)
    with morning_after() as opened, opened() as home, pages_of(home) as url:
        browse("screenshots", url, str(folder))
