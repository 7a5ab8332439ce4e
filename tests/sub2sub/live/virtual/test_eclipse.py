"""What an eclipse does to deliveries, and what is left of it afterwards."""

from __future__ import annotations

from tests.sub2sub.live.virtual.eclipse import Eclipse


def test_an_eclipse_leaves_nothing_behind() -> None:
    hits = Eclipse(10, listens=True).run()
    assert hits.before == 1.0
    assert hits.during > 0.1  # 1/10 is the publisher alone; docs/live.md says how many are reached
    assert hits.after == 1.0
