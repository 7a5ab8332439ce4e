"""The loops of `workloads.match.bitmaps`: a chunk of boxes, one bit each, against all events."""

from __future__ import annotations

import numpy as np

from sub2sub.plain_numba import jitted

SLOTS = 512
_WORDS = 128
CHUNK = 64 * _WORDS

_BATCH = 8
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_M1, _M2, _M4 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_H01 = np.uint64(0x0101010101010101)
_U1, _U2, _U4, _U56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@jitted
def _ones(x):
    """How many bits of x are set (compilers turn this into one instruction)."""
    x = x - ((x >> _U1) & _M1)
    x = (x & _M2) + ((x >> _U2) & _M2)
    x = (x + (x >> _U4)) & _M4
    return np.int64((x * _H01) >> _U56)


@jitted
def _bitmaps(box, starts):
    """The boxes that contain each cut, for all attributes but the first."""
    bitmaps = np.zeros((box.shape[0], SLOTS + 1, _WORDS), np.uint64)
    for axis in range(1, box.shape[0]):
        for slot in range(1, SLOTS + 1):
            now = bitmaps[axis, slot]
            now[:] = bitmaps[axis, slot - 1]
            for k in range(starts[axis, slot - 1], starts[axis, slot]):
                s = box[axis, k]
                now[s >> 6] ^= _ONE << np.uint64(s & 63)
    return bitmaps


@jitted
def visit_chunk(at, box, starts, points, slots, counts, names, members):
    """Count, or list, those of at most CHUNK boxes that contain each point.

    `at`, `box` and `starts` are what `workloads.match.bitmaps.flips` returns. Points are sorted by the first
    attribute. The number of boxes found is added to `counts`. Their names are written to `members`, in rising
    order, point after point, while they fit.
    """
    d, ends = at.shape
    bitmaps = _bitmaps(box, starts)
    first_axis = np.zeros(_WORDS, np.uint64)
    passed = listed = 0
    # A few events at a time, attribute by attribute: reading what was written just before would stall.
    stage = np.empty((_BATCH, 2, _WORDS), np.uint64)
    filled = np.empty(_WORDS + 1, np.int64)
    for begin in range(0, points.shape[0], _BATCH):
        end = min(begin + _BATCH, points.shape[0])
        for event in range(begin, end):
            while passed < ends and at[0, passed] <= points[event, 0]:
                s = box[0, passed]
                first_axis[s >> 6] ^= _ONE << np.uint64(s & 63)
                passed += 1
            now = stage[event - begin, 0]
            for w in range(_WORDS):
                now[w] = first_axis[w]
        for axis in range(1, d):
            for event in range(begin, end):
                before, now = stage[event - begin, 1 - (axis & 1)], stage[event - begin, axis & 1]
                x, slot = points[event, axis], slots[event, axis]
                i, j = starts[axis, slot], starts[axis, slot + 1]
                from_above = i < j and at[axis, (i + j) >> 1] <= x
                bitmap = bitmaps[axis, slot + from_above]
                for w in range(_WORDS):
                    now[w] = before[w] & bitmap[w]
                # Apply the flips between the cut and the event, to boxes that match in earlier attributes.
                if from_above:
                    j -= 1
                    while j >= i and at[axis, j] > x:
                        s = box[axis, j]
                        now[s >> 6] ^= before[s >> 6] & (_ONE << np.uint64(s & 63))
                        j -= 1
                else:
                    while i < j and at[axis, i] <= x:
                        s = box[axis, i]
                        now[s >> 6] ^= before[s >> 6] & (_ONE << np.uint64(s & 63))
                        i += 1
        for event in range(begin, end):
            now = stage[event - begin, (d - 1) & 1]
            found = 0
            for w in range(_WORDS):
                found += _ones(now[w])
            counts[event] += found
            if listed + found <= members.shape[0]:
                _list_bits(now, filled, names, members[listed : listed + found])
            listed += found


@jitted
def _lowest(x):
    """The place of the lowest bit that is set."""
    return _ones((x & (~x + _ONE)) - _ONE)


@jitted
def _list_bits(words, filled, names, out):
    """The names of the bits that are set. Most words have none and are skipped without a branch."""
    count = 0
    for w in range(words.shape[0]):
        filled[count] = w
        count += words[w] != _ZERO
    place = 0
    for k in range(count):
        w = filled[k]
        bits = words[w]
        while bits != _ZERO:
            out[place] = names[64 * w + _lowest(bits)]
            bits &= bits - _ONE
            place += 1


@jitted
def put_together(listed, counts, offsets, members):
    """Concatenate the members of each event from all chunks; `listed` has them chunk by chunk."""
    chunks, events = counts.shape
    place = np.zeros(chunks, np.int64)
    for chunk in range(1, chunks):
        place[chunk] = place[chunk - 1] + counts[chunk - 1].sum()
    for event in range(events):
        to = offsets[event]
        for chunk in range(chunks):
            for k in range(place[chunk], place[chunk] + counts[chunk, event]):
                members[to] = listed[k]
                to += 1
            place[chunk] += counts[chunk, event]
