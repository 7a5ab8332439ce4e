"""A tutorial that runs: from three subscriptions to an overlay that heals. Read it from top to bottom.

    python docs/tutorial.py [FOLDER]

writes a run folder to FOLDER (default: tutorial/). Cells begin with `# %%`, so that editors and Jupyter
(through jupytext) show it as a notebook. Every claim in the text is asserted beneath it.
"""

import sys
from pathlib import Path

import numpy as np

from sims.config.experiment import load_experiment
from sims.engine import Schedule, Simulation
from sims.engine.faults import Crash
from sims.observers import Delivery, RingCompleteness
from sims.runs.folder import RunFolder
from sims.runs.runner import run_experiment
from sub2sub import AttributeSpace, Float, InputError, match
from sub2sub.overlay.overlay import Overlay
from sub2sub.overlay.population import Population
from workloads import named

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "tutorial")

# %% [markdown]
# ## 1. A subscription is a box
# Attributes have names and types. A subscription has a range, an exact value or nothing for each attribute.
# An event is a point. A subscription matches an event if its box contains the point.

# %%
space = AttributeSpace({"price": Float(0, 500), "market": ["Milan", "Paris", "Zurich"]})
wanted = space.subscriptions(
    [
        {"price": (10, 20), "market": "Milan"},
        {"price": (15, 80)},  # any market
        {"market": "Zurich"},  # any price
    ]
)
events = space.events([{"price": 18, "market": "Milan"}, {"price": 300, "market": "Zurich"}])
members = match(wanted.lows, wanted.highs, events)
rings = [
    members.members[a:b].tolist() for a, b in zip(members.offsets[:-1], members.offsets[1:], strict=True)
]
print("subscribers of each event:", rings)
assert rings == [[0, 1], [2]]

# %% [markdown]
# ## 2. The rings of a population
# The subscribers of an event, in the order of random IDs, form its ring. In the paper's workload there are 3
# attributes; interests and widths follow power laws. Most rings are short, a few are long.

# %%
spec = named("power-law-3")
lows, highs = spec.subscriptions(2_000, seed=1)
test_events = spec.events(1_000, seed=1, lows=lows, highs=highs, at_least=2)
lengths = np.diff(match(lows, highs, test_events).offsets)
print(f"rings of {lengths.min()} to {lengths.max()} subscribers, half of them up to {np.median(lengths):.0f}")
assert lengths.min() >= 2

# %% [markdown]
# ## 3. Peers that know one random peer each find all their ring neighbours
# An overlay is a population with three layers of links. A simulation steps it, and runs scheduled faults and
# observers. No peer knows all others: each exchanges a few links with one other peer per layer and cycle.

# %%
overlay = Overlay(Population.of(lows, highs, seed=1), seed=1)
overlay.bootstrap()
simulation = Simulation(
    overlay,
    [
        (Schedule(at=30), Crash(0.2)),  # every fifth peer, without notice
        (Schedule(), RingCompleteness(test_events)),
        (Schedule(every=5), Delivery(test_events)),
    ],
)
simulation.run(30)
complete = {row["cycle"]: row["complete"] for row in simulation.tables["rings"]}
print("complete rings:", {cycle: f"{complete[cycle]:.1%}" for cycle in (0, 5, 10, 20, 29)})
assert complete[29] == 1.0

# %% [markdown]
# ## 4. Events are forwarded along the rings, and reach no other peer
# Each peer sends an event to its two neighbours on that event's ring, and to one random peer that matches.
# Before the crash all subscribers receive all their events, and no other peer receives a message.

# %%
before = next(row for row in simulation.tables["delivery"] if row["cycle"] == 25)
print(f"hit ratio {before['hit_ratio']:.1%}, spam {before['spam']}, hops {before['hops_mean']:.1f}")
assert before["hit_ratio"] == 1.0
assert before["spam"] == 0

# %% [markdown]
# ## 5. Rings heal
# In cycle 30 every fifth peer crashed. Events still arrive, because a peer that gets no answer tries the next
# neighbour. The rings are complete again some cycles later, when peers have dropped the links to dead peers.

# %%
simulation.run(70)
complete = {row["cycle"]: row["complete"] for row in simulation.tables["rings"]}
after = [row["hit_ratio"] for row in simulation.tables["delivery"] if row["cycle"] > 30]
print("complete rings:", {cycle: f"{complete[cycle]:.1%}" for cycle in (30, 35, 40, 50, 70)})
print(f"least hit ratio after the crash {min(after):.1%}")
assert complete[70] == 1.0
assert min(after) > 0.99

# %% [markdown]
# ## 6. The same as an experiment file
# A file contains all settings of a run; `sub2sub run` writes a folder with tables, figures and a manifest.
# A misspelled key is an error that names the line.

# %%
FOLDER.mkdir(parents=True, exist_ok=True)
(FOLDER / "crash.toml").write_text(
    """\
title = "Every fifth peer crashes"
cycles = 60

[population]
size = 2000

[workload]
spec = "power-law-3"
events = 1000

[[faults]]
kind = "crash"
at = 30
share = 0.2

[[observers]]
kind = "rings"

[[observers]]
kind = "delivery"
every = 5
"""
)
try:
    load_experiment(FOLDER / "crash.toml", ["layers.ring.max_aeg=9"])
except InputError as error:
    print(error)
ended = run_experiment(
    load_experiment(FOLDER / "crash.toml"), seed=1, out=FOLDER / "run", name="tutorial", overwrite=True
)
run = RunFolder.open(FOLDER / "run")
print("tables:", ", ".join(run.tables()), "| figures:", ", ".join(path.name for path in run.figures()))
assert ended.numbers["rings_complete"] == 1.0

# The file and the program above have the same settings, so they give the same rings, bit for bit.
again = run.table("rings")["complete"].to_pylist()
assert again == [complete[cycle] for cycle in range(61)]

# %% [markdown]
# ## Where to go from here
# `sub2sub report FOLDER/run --open` makes a page of this run. docs/guide.md describes the command line,
# docs/how-it-works.md the protocols; examples/ shows how to extend them.
print("done")
