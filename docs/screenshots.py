"""Makes the pictures of docs/web.md anew, on the sample of `reverie demo`, with Chromium.

    python docs/screenshots.py [FOLDER]

Into another folder each page is taken at 360 and at 1,600 pixels, light and dark, to be looked at.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browsing import browse, morning_after, pages_of  # noqa: E402
from tests.peers import python_with  # noqa: E402

PILLOW = "pillow==12.0.0"
SMALLER = """
import sys
from PIL import Image
for path in sys.argv[1:]:
    Image.open(path).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(path, optimize=True)
"""
SKILL = """---
name: release
description: Use when a version of the shop is to be released.
version: 1.2.0
---
# Release the shop

1. Run `make check`.
2. Write the notes for the people who upgrade.
3. Tag the commit that was checked, and no other.

## Gotchas

- The payment sandbox is down on Sundays.
"""

if __name__ == "__main__":
    wanted = Path(sys.argv[1]) if sys.argv[1:] else None
    folder = wanted or ROOT / "docs" / "web"
    folder.mkdir(exist_ok=True)
    with morning_after() as opened, opened() as home, pages_of(home) as url:
        skill = home.config.home / "skills" / "release" / "SKILL.md"
        skill.parent.mkdir(parents=True, exist_ok=True)
        skill.write_text(SKILL)
        made = home.refining.refine_skill("release", section="Gotchas", add=["Push the tag before the branch."])
        home.review.approve(made.proposal, "it bit us twice")  # type: ignore[union-attr]
        browse("screenshots", url, str(folder), *(["looks"] if wanted else []))
    pictures = [str(one) for one in sorted(folder.glob("*.png"))]
    if not wanted:
        subprocess.run([str(python_with(PILLOW)), "-c", SMALLER, *pictures], check=True)
