"""Live peers over TCP: nodes, the authority of a swarm, and swarms on this machine."""

from __future__ import annotations

import click

from sims.cli.live.authorities import ca
from sims.cli.live.nodes import KINDS, WATCHED, node_command, watch_command
from sims.cli.live.swarms import swarm


@click.group("live")
def command() -> None:
    """Run Sub-2-Sub and CAMCAST over real sockets (needs the extra `live`).

    \b
    Examples:
      sub2sub live ca init                                     a closed swarm: an authority,
      sub2sub live ca issue alice                              and a certificate for each member
      sub2sub live peer --config alice.toml                    a node; its events are JSON lines
      sub2sub live status alice.sock                           what it knows and has done
      sub2sub live peer --listen 127.0.0.1:7000 --subscribe 0:0.5,0:1
      sub2sub live swarm --peers 40 --kill 0.2                 40 processes here; a fifth is killed
    """


for each in (ca, *map(node_command, KINDS), *map(watch_command, WATCHED), swarm):
    command.add_command(each)
