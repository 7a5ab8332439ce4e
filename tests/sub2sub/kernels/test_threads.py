"""How work is cut into chunks that threads take as they become free."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sub2sub.compiled.common.threads import _chunks


@st.composite
def apart(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Stretches of numbers that do not overlap."""
    ends = sorted(draw(st.lists(st.integers(0, 3000), max_size=4)))
    return list(zip(ends[::2], ends[1::2], strict=False))


@given(apart(), st.integers(1, 8), st.integers(0, 300))
def test_chunks_are_the_stretches_the_largest_first_and_none_is_smaller_than_it_need_be(
    stretches: list[tuple[int, int]], together: int, least: int
) -> None:
    chunks = list(_chunks(stretches, together, least))
    items = [item for first, last in stretches for item in range(first, last)]
    assert [item for first, last in chunks for item in range(first, last)] == items
    ends = {last for _, last in stretches}
    assert all(last - first >= least for first, last in chunks if last not in ends)
    if together > 1 and len(stretches) == 1:
        sizes = [last - first for first, last in chunks]
        assert sizes == sorted(sizes, reverse=True)
        assert max(sizes, default=0) <= max(1, least, len(items) // (4 * together))
