"""The cache of compiled kernels is kept, and kept small."""

import os
import time

from sub2sub.kernels.compilation import KEEP_DAYS, _prune


def test_only_kernels_that_nobody_has_run_for_long_are_forgotten(tmp_path):
    for name, days in (("kernels-old", KEEP_DAYS + 1), ("kernels-new", KEEP_DAYS - 1), ("other", 999)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").write_bytes(b"x")
        then = time.time() - 86_400 * days
        os.utime(tmp_path / name, (then, then))
    _prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-new", "other"]
