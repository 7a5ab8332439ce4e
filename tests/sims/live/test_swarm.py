"""Swarms in real processes: killed by signal, healed, cleaned up."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hierarchy.camcast import TopicSettings
from hierarchy.live import MemberSettings
from sims.cli.commands.live import command
from sims.live.communities import Communities
from sims.live.processes import Failed, Processes
from sims.live.swarm import Swarm
from sims.live.warm import Echo


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


def test_a_swarm_of_processes_delivers_exactly_before_and_after_a_fifth_is_killed() -> None:
    rng = np.random.default_rng(3)
    low = rng.random((20, 2)) * 0.6
    points = rng.random((200, 2))
    with Swarm(low, low + 0.4, period=0.3, seed=3) as swarm:
        pids = [process.pid for process in swarm.processes._processes.values()]
        assert len(set(pids)) == 20
        swarm.join()
        assert swarm.wait_for_rings(points, most=60.0)[-1].complete == 1.0
        before = swarm.publish(points[:20])
        assert (before.exact, before.twice, before.unwanted) == (20, 0, 0)
        assert len(swarm.kill(0.2)) == 4
        assert swarm.wait_for_rings(points, most=60.0)[-1].complete == 1.0
        after = swarm.publish(points[:20])
        assert (after.exact, after.twice, after.unwanted) == (20, 0, 0)
    assert all(gone(pid) for pid in pids if pid)


def test_communities_in_processes_receive_what_is_published_below_them() -> None:
    settings = MemberSettings(TopicSettings(c=0.0, a=2.0, z=2))
    with Communities((2, 4, 8), settings, period=0.3, per_process=3, seed=2) as swarm:
        swarm.enter()
        assert swarm.wait_for_tables(most=40.0)
        (counts,) = swarm.publish([1.0])
    assert counts[swarm.topics[2]].reached >= 1
    assert counts[swarm.topics[1]].reached >= 1
    assert counts[swarm.topics[0]].upward == 0


def test_a_process_that_is_killed_is_missed_by_name() -> None:
    with Processes([Echo("a"), Echo("b")], timeout=20.0) as both:
        os.kill(both._processes[1].pid or 0, signal.SIGKILL)
        with pytest.raises(Failed, match="process 1"):
            both.call(1, "say", "anything")
        assert both.call(0, "say", "hello") == "a says hello"


def test_an_error_in_a_process_is_told_and_does_not_end_it() -> None:
    with Processes([Echo("a")], timeout=20.0) as one:
        with pytest.raises(Failed, match="AttributeError"):
            one.call(0, "sing")
        assert one.call(0, "say", "hello") == "a says hello"


def test_the_command_runs_a_swarm_and_says_how_it_went() -> None:
    run = CliRunner().invoke(
        command,
        ["swarm", "--peers", "8", "--per-process", "4", "--period", "0.2", "--events", "10", "--json"],
    )
    assert run.exit_code == 0, run.output
    (built,) = json.loads(run.stdout)
    assert (built["events"], built["exact"]) == (10, 10)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["peer", "--listen", "nowhere"], "HOST:PORT"),
        (["peer", "--subscribe", "0:1,2"], "LOW:HIGH"),
        (["peer", "--listen", "0.0.0.0:0", "--set", "advertise=192.0.2.1:7000"], "expected TLS at 0.0.0.0"),
        (["topic", "--set", "membership=none"], "membership"),
        (["shared", "--set", "topic=.a"], "topics"),
        (["status", "nowhere.sock"], "running node"),
        (["ca", "issue", "alice", "--folder", "nowhere"], "ca init"),
    ],
)
def test_mistakes_are_named(arguments: list[str], says: str) -> None:
    run = CliRunner().invoke(command, arguments)
    assert run.exit_code != 0
    assert says in str(run.exception)
