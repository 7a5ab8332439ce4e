"""How often peers repeat messages, given the loss of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sims.engine import Simulation
from sims.observers import RingCompleteness
from sub2sub.compiled.ring.probes import MISTAKE, tries_for
from sub2sub.overlay.overlay import Overlay
from sub2sub.peers.settings import OverlaySettings
from workloads import named


def test_enough_copies_are_sent_that_all_are_rarely_lost() -> None:
    shares = np.array([0.0, 0.01, 0.06, 0.15, 0.3, 0.5])
    tries = tries_for(np.full(6, 1e9), 1e9 * shares, least=5, most=24)
    assert (shares**tries <= MISTAKE).all()
    assert (shares[3:] ** (tries[3:] - 1) > MISTAKE).all(), "and not more than it takes"
    assert tries.tolist()[:3] == [5, 5, 5]
    assert tries_for([100], [99], least=5, most=24) == 24
    assert tries_for([100], [99], least=5, most=0) == 5


def test_peers_learn_when_loss_begins_and_ends_and_newcomers_know_nothing_of_it() -> None:
    rng = np.random.default_rng(2)
    low = rng.random((60, 2)) * 0.7
    overlay = Overlay.of(low, low + 0.3, seed=1)
    overlay.network.loss = 0.4
    assert (overlay.run(12).ring.tries > 8).all()
    overlay.admit(np.array([3]), np.array([7]), 13)
    assert overlay.ring.tries[3] == 5
    overlay.network.loss = 0.0
    assert (overlay.run(90).ring.tries < 8).all()


def test_rings_stay_complete_at_thirty_percent_loss() -> None:
    torn = {}
    for most in (24, 0):
        settings = OverlaySettings()
        settings = replace(settings, ring=replace(settings.ring, most_tries=most))
        spec = named("power-law-3")
        lows, highs = spec.subscriptions(600, 2)
        events = spec.events(200, 2, lows, highs, at_least=2)
        overlay = Overlay.of(lows, highs, settings=settings, seed=2)
        simulation = Simulation(overlay).observe(RingCompleteness(events))
        simulation.overlay.network.loss = 0.3
        simulation.run(50)
        torn[most] = [row["complete"] < 1.0 for row in simulation.tables["rings"] if row["cycle"] >= 30]
    assert not any(torn[24])
    assert sum(torn[0]) > 5
