"""The equations: against each other, against closed forms, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierarchy.hpmcast import Condensation, Gossip, Population, disseminate, exact_knowledge, spread_interest
from hierarchy.hpmcast.analysis import (
    Regular,
    best_depth,
    delegates_of_level,
    entity_infection,
    expected_delivery,
    expected_infected,
    infected_distribution,
    mean_level,
    mean_level_estimate,
    mean_updates,
    reach_probability,
    rounds_to_everybody,
    view_size,
)
from sub2sub.errors import InputError


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 60), fanout=st.integers(1, 5), loss=st.floats(0, 0.9))
def test_the_chain_is_a_chain(n, fanout, loss):
    reach = reach_probability(n, fanout, loss)
    matrix = np.array([infected_distribution(n, reach, rounds=1, initial=j)[1] for j in range(n + 1)])
    assert np.allclose(matrix.sum(axis=1), 1)
    assert (np.tril(matrix, -1) == 0).all()
    chances = infected_distribution(n, reach, rounds=4)
    assert np.allclose(chances[4], np.linalg.matrix_power(matrix, 4)[1], atol=1e-12)


def test_a_transition_is_equation_2_term_by_term():
    from math import comb

    n, q = 7, 1 - reach_probability(7, 2)
    for j in range(1, n + 1):
        after = infected_distribution(n, 1 - q, rounds=1, initial=j)[1]
        for k in range(j, n + 1):
            expected = comb(n - j, k - j) * (1 - q**j) ** (k - j) * q ** (j * (n - k))
            assert after[k] == pytest.approx(expected, abs=1e-12)


def test_rounds_to_everybody_is_a_mean_over_the_chain():
    n, reach = 12, reach_probability(12, 2)
    reached = infected_distribution(n, reach, rounds=200)[:, n]
    assert rounds_to_everybody(n, reach) == pytest.approx((1 - reached).sum())


def test_the_chain_follows_simulated_gossip_from_below():
    flat = Population.regular(a=60, levels=1)
    views = exact_knowledge(flat).views()
    ones = np.ones(60, np.uint8)
    traces = [disseminate(views, ones, 0, Gossip(fanout=2), seed=7, event=e) for e in range(300)]
    for rounds in (1, 2, 3, 4, 6):
        simulated = np.mean([((t.trace.first >= 0) & (t.trace.first <= rounds)).sum() for t in traces])
        expected = expected_infected(60, reach_probability(60, 2), rounds)
        # Distinct choices spare the first rounds the bad luck that independent ones would have.
        assert 0.98 * expected < simulated < 1.12 * expected


@settings(max_examples=50)
@given(a=st.integers(4, 50), levels=st.integers(1, 5), redundancy=st.integers(1, 4))
def test_updates_after_a_failure_add_up(a, levels, redundancy):
    numbers = range(1, levels + 1)
    members = [delegates_of_level(a, levels, redundancy, i) for i in numbers]
    assert sum(members) == a**levels
    # a^i - 1 participants know one of highest level i, and must learn its failure (equation 34).
    updates = sum(d * (a**i - 1) for d, i in zip(members, numbers, strict=True)) / a**levels
    assert updates == pytest.approx(mean_updates(a, levels, redundancy) if levels > 1 else a - 1)


def test_members_of_each_level_are_those_of_real_views():
    views = exact_knowledge(Population.regular(a=7, levels=3), Condensation(redundancy=2)).views()
    counted = np.bincount(views.top)[1:].tolist()
    assert counted == [delegates_of_level(7, 3, 2, i) for i in (1, 2, 3)]
    assert mean_level(7, 3, 2) == pytest.approx(views.top.mean())


@pytest.mark.parametrize("redundancy", [1, 2, 3, 5])
def test_the_best_depth_is_where_views_are_smallest(redundancy):
    n = 10**6
    depths = np.linspace(2, 25, 4000)
    sizes = [view_size(n ** (1 / depth), depth, redundancy) for depth in depths]
    assert depths[np.argmin(sizes)] == pytest.approx(best_depth(n, redundancy), abs=0.02)


def test_the_mean_level_rises_with_the_depth_and_its_estimate_with_it():
    exact = [mean_level(a, levels, 2) for a, levels in ((4096, 1), (64, 2), (16, 3), (8, 4), (4, 6))]
    assert exact == sorted(exact)
    estimate = [mean_level_estimate(4096, levels, 2) for levels in (1, 2, 3, 4, 6)]
    assert estimate == sorted(estimate)


@pytest.mark.parametrize("p", [0.3, 0.6, 1.0])
def test_simulated_delivery_lies_above_the_pessimistic_equation_and_near_that_with_all_delegates(p):
    system = Regular(a=22, levels=3, redundancy=3, fanout=2, p=p)
    population = Population.regular(a=22, levels=3)
    views = exact_knowledge(population, Condensation(redundancy=3)).views()
    flags = np.random.default_rng(1).random(population.n) < p
    hit = spread_interest(population, flags)
    simulated = np.mean([disseminate(views, hit, 0, seed=s).trace.delivery(flags) for s in range(5)])
    assert expected_delivery(system) < simulated
    assert simulated == pytest.approx(expected_delivery(system, initial=3), abs=0.01)


def test_the_printed_form_loses_the_interested_share_of_every_level():
    system = Regular(a=10, levels=2, redundancy=3, fanout=4, p=0.1, c=5)
    assert expected_delivery(system, conditional=False) == pytest.approx(
        expected_delivery(system) * system.share(2)
    )


def test_more_rounds_and_a_better_start_infect_more():
    plain, longer = (Regular(22, 3, 3, 2, p=0.3, c=c) for c in (0, 3))
    assert entity_infection(plain, 1) < entity_infection(longer, 1)
    assert expected_delivery(plain) < expected_delivery(plain, initial=3)


def test_what_is_no_system_is_refused():
    with pytest.raises(InputError, match="p: expected a probability above 0"):
        Regular(22, 3, 3, 2, p=0)
    with pytest.raises(InputError, match="n: expected at least 1 participant"):
        infected_distribution(0, 0.5, rounds=1)
    with pytest.raises(InputError, match="reach: expected a probability above 0"):
        rounds_to_everybody(5, 0.0)
    with pytest.raises(InputError, match="n: expected a system large enough"):
        best_depth(10, redundancy=3)
