"""`sub2sub live ca`: who is a member of a swarm."""

from __future__ import annotations

from pathlib import Path

import click

from workloads.cli.common import FOLDER, NumberRange, json_option, print_result

in_folder = click.option(
    "--folder", type=FOLDER, default=Path("swarm"), show_default="swarm", help="Folder of the authority."
)
for_days = click.option(
    "--days", type=NumberRange(0, 36500, min_open=True), default=365.0, help="Days that it lasts."
)


@click.group()
def ca() -> None:
    """Keep a swarm's own certificate authority: only its members can connect.

    A member's folder (authority.pem, certificate.pem, key.pem, revoked.pem) is brought to its machine; the
    authority's own key stays where it is. Nodes read files that have changed before the next handshake.

    \b
    Examples:
      sub2sub live ca init
      sub2sub live ca issue alice                  then copy swarm/alice to the machine
      sub2sub live ca renew alice                  then copy swarm/alice/certificate.pem
      sub2sub live ca revoke alice                 then copy swarm/revoked.pem to all others
    """


@ca.command()
@in_folder
@click.option("--days", type=NumberRange(0, 36500, min_open=True), default=3650.0, help="Days that it lasts.")
@json_option
def init(folder: Path, days: float, as_json: bool) -> None:
    """Make a new authority."""
    from sub2sub.live.authority import Authority

    Authority.create(folder, days)
    print_result(as_json, {"folder": str(folder)}, f"{folder}: keep it; next, `sub2sub live ca issue NAME`")


@ca.command()
@click.argument("name")
@in_folder
@for_days
@json_option
def issue(name: str, folder: Path, days: float, as_json: bool) -> None:
    """Make a certificate for a new member NAME, in FOLDER/NAME."""
    from sub2sub.live.authority import Authority

    member = Authority.open(folder).issue(name, days)
    print_result(as_json, {"folder": str(member)}, f"{member}: copy it to the machine of {name}")


@ca.command()
@click.argument("name")
@in_folder
@for_days
@json_option
def renew(name: str, folder: Path, days: float, as_json: bool) -> None:
    """Let the certificate of the member NAME last longer; its key and its sequence IDs stay."""
    from sub2sub.live.authority import Authority

    path = Authority.open(folder).renew(name, days) / "certificate.pem"
    print_result(as_json, {"file": str(path)}, f"{path}: copy it to the machine of {name}")


@ca.command()
@click.argument("name")
@in_folder
@json_option
def revoke(name: str, folder: Path, as_json: bool) -> None:
    """Shut the member NAME out, and delete its folder here."""
    from sub2sub.live.authority import Authority

    path = Authority.open(folder).revoke(name)
    print_result(as_json, {"file": str(path)}, f"{path}: copy it into the folders of all other members")
