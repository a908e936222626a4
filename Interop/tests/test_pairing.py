"""Pairing with a foreign stack: every method, both roles, legacy and Secure Connections, and the bonds after a
restart."""
from __future__ import annotations

import asyncio
import os
import pty
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from bumble import att
from bumble.core import UUID, ProtocolError
from bumble.smp import ErrorCode, OobContext

from conftest import Start
from peers.central import Central, central
from peers.pairing import DISPLAY, DISPLAY_YES_NO, KEYBOARD, NOTHING, Pairing, shared_data, shared_digits
from peers.peripheral import NAME, peripheral
from peers.ports import free_ports
from peers.processes import Process, running
from peers.rootcanal import rootcanal

EMAIL, EMAIL_VALUE = UUID("2A87"), b"wearer@example.org"  # for trusted centrals only
SERVED = "Harald HR"
NOT_SECURED = 7  # an exit status
PORT = free_ports(1)[0]  # reused by all airs: bonds belong to a controller at one place


@asynccontextmanager
async def air(name: str, harald: Start) -> AsyncIterator[tuple[str, str]]:
    """Controllers, in the formats of Harald's --controller and of Bumble."""
    if name == "harald":
        async with harald("controllers", "--listen", str(PORT)) as process:
            await process.line("listening on")
            yield f"tcp:127.0.0.1:{PORT}", f"tcp-client:127.0.0.1:{PORT}"
    else:
        async with rootcanal("full", PORT) as others:
            yield others.address, others.transport


AIRS = [pytest.param("harald", id="harald"), pytest.param("rootcanal", marks=pytest.mark.rootcanal, id="rootcanal")]


@dataclass
class Way:
    """A pairing method: the capabilities of both sides, and the actions of the two users."""

    name: str
    ours: str  # --io-capability
    theirs: int
    act: Callable[[Process, Pairing], Awaitable[None]]
    is_authenticated: bool = True
    legacy: bool = False

    def level(self) -> str:
        trust = "authenticated" if self.is_authenticated else "unauthenticated"
        return f"{trust}, {'legacy' if self.legacy else 'Secure Connections'}, 16 octets"


async def agree(process: Process, _: Pairing) -> None:
    await process.line(r"\[ (pair with .*|.* wants to pair): yes or no\?")
    process.type("yes")


async def compare(process: Process, theirs: Pairing) -> None:
    shown = int((await process.line(r"\[ .*: does it show (\d{6}) too\?"))[1])
    assert shown == await theirs.person.shown.get()
    process.type("yes")


async def enter_here(process: Process, theirs: Pairing) -> None:
    await process.line(r"\[ .*: which code does it show\?")
    process.type(f"{await theirs.person.shown.get():06}")


async def enter_there(process: Process, theirs: Pairing) -> None:
    shown = await process.line(r"\[ .*: enter the code (\d{6}) on it")
    theirs.person.code.put_nowait(int(shown[1]))


def ways() -> list[pytest.param]:
    found = []
    for legacy in (False, True):
        era = "legacy" if legacy else "sc"
        found += [
            Way(f"{era}-just-works", "keyboard-display", NOTHING, agree, is_authenticated=False, legacy=legacy),
            Way(f"{era}-just-works-without-keys", "none", NOTHING, agree, is_authenticated=False, legacy=legacy),
            Way(f"{era}-passkey-entered-here", "keyboard-only", DISPLAY, enter_here, legacy=legacy),
            Way(f"{era}-passkey-entered-there", "display-only", KEYBOARD, enter_there, legacy=legacy),
        ]
    found.append(Way("sc-numeric-comparison", "display-yes-no", DISPLAY_YES_NO, compare))
    return [pytest.param(way, id=way.name) for way in found]


# --- as central


def exploring(controller: str, store: Path, *options: str) -> list[str]:
    line = ["explore", "--controller", controller, NAME, "--notifications", "0", "--pair", "--store", str(store)]
    return [*line, *options]


@pytest.mark.parametrize("air_name", AIRS)
@pytest.mark.parametrize("way", ways())
async def test_pairs_as_central_and_is_known_after_a_restart(
    harald: Start, tmp_path: Path, air_name: str, way: Way
) -> None:
    async with air(air_name, harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", "--io-capability", way.ours)
        theirs = Pairing(way.theirs, legacy=way.legacy, keys=tmp_path / "keys.json")
        async with peripheral(transport, pairing=theirs), harald(*command) as process:
            await way.act(process, theirs)
            assert await process.status() == 0
            keys = await theirs.paired.get()
        assert "bonded with" in process.output
        check_secured(process, way)
        assert (keys.ltk is None) == way.legacy
        assert (keys.ltk or keys.ltk_peripheral).authenticated == way.is_authenticated

    # Both restart, and no user is asked. New controllers have the addresses of the old ones.
    async with air(air_name, harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", "--io-capability", way.ours)
        again = Pairing(way.theirs, legacy=way.legacy, keys=tmp_path / "keys.json")
        async with peripheral(transport, pairing=again), harald(*command) as process:
            assert await process.status() == 0
    assert again.paired.empty() and "bonded with" not in process.output
    assert asked(process) == ""
    check_secured(process, way)


def check_secured(process: Process, way: Way) -> None:
    assert f"encrypted: {way.level()}" in process.output
    assert b"secret".hex() in process.output, "the protected value was not read"


def asked(process: Process) -> str:
    return "\n".join(line for line in process.out if line.startswith("[ "))


async def expect_known_as_central(harald: Start, tmp_path: Path, air_name: str, legacy: bool) -> None:
    """After a restart of both, without the out-of-band data."""
    again = Pairing(legacy=legacy, keys=tmp_path / "keys.json")
    async with air(air_name, harald) as (controller, transport):
        # Controllers get their addresses in the order of their use.
        if legacy:
            command = exploring(controller, tmp_path / "bonds")
            async with peripheral(transport, pairing=again), harald(*command) as process:
                assert await process.status() == 0
        else:
            async with harald(*exploring(controller, tmp_path / "bonds", "--share-oob")) as process:
                await process.line("out of band")
                async with peripheral(transport, pairing=again):
                    assert await process.status() == 0
    assert again.paired.empty() and asked(process) == ""
    assert b"secret".hex() in process.output


@pytest.mark.parametrize("air_name", AIRS)
async def test_pairs_out_of_band_as_central(harald: Start, tmp_path: Path, air_name: str) -> None:
    theirs = Pairing(context=OobContext(), keys=tmp_path / "keys.json")
    options = ["--share-oob", "--oob", shared_digits(theirs.context.share())]
    async with air(air_name, harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", *options)
        async with harald(*command) as process:
            theirs.peer_data = shared_data((await process.line(r"out of band: ([0-9a-f]{64})"))[1])
            # It is being searched for all the time.
            async with peripheral(transport, pairing=theirs):
                assert await process.status() == 0
                await theirs.paired.get()
    assert "encrypted: authenticated, Secure Connections, 16 octets" in process.output
    assert b"secret".hex() in process.output
    await expect_known_as_central(harald, tmp_path, air_name, legacy=False)


@pytest.mark.parametrize("air_name", AIRS)
async def test_pairs_out_of_band_as_central_in_the_old_way(harald: Start, tmp_path: Path, air_name: str) -> None:
    key = bytes(range(1, 17))
    theirs = Pairing(legacy=True, temporary_key=key, keys=tmp_path / "keys.json")
    async with air(air_name, harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", "--oob", key[::-1].hex())
        async with peripheral(transport, pairing=theirs), harald(*command) as process:
            assert await process.status() == 0
            await theirs.paired.get()
    assert "encrypted: authenticated, legacy, 16 octets" in process.output
    assert b"secret".hex() in process.output
    await expect_known_as_central(harald, tmp_path, air_name, legacy=True)


@pytest.mark.parametrize("legacy", [False, True], ids=["sc", "legacy"])
@pytest.mark.parametrize("air_name", AIRS)
async def test_a_wrong_code_fails_on_both_sides(harald: Start, tmp_path: Path, air_name: str, legacy: bool) -> None:
    theirs = Pairing(DISPLAY, legacy=legacy)
    async with air(air_name, harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", "--io-capability", "keyboard-only")
        async with peripheral(transport, pairing=theirs), harald(*command) as process:
            await process.line(r"\[ .*: which code does it show\?")
            process.type(f"{(await theirs.person.shown.get() + 1) % 1_000_000:06}")
            assert await process.status() == NOT_SECURED
            assert await theirs.failed.get() == ErrorCode.CONFIRM_VALUE_FAILED
    assert "confirm value" in process.errors.lower()
    assert "bonded with" not in process.output


async def test_no_is_no(harald: Start, tmp_path: Path) -> None:
    theirs = Pairing(DISPLAY_YES_NO)
    async with air("harald", harald) as (controller, transport):
        command = exploring(controller, tmp_path / "bonds", "--io-capability", "display-yes-no", "--answer", "no")
        async with peripheral(transport, pairing=theirs), harald(*command) as process:
            assert await process.status() == NOT_SECURED
            assert await theirs.failed.get() == ErrorCode.NUMERIC_COMPARISON_FAILED
    assert "was not accepted on this device" in process.errors
    assert "bonded with" not in process.output
    assert theirs.paired.empty()


async def test_a_second_run_on_our_controllers_finds_its_bonds(harald: Start, tmp_path: Path) -> None:
    """Both disconnect and reconnect, while the controllers keep running."""
    keys, store = tmp_path / "keys.json", tmp_path / "bonds"
    async with air("harald", harald) as (controller, transport):
        for run in range(3):
            command = exploring(controller, store, "--answer", "yes")
            theirs = Pairing(keys=keys)
            async with peripheral(transport, pairing=theirs), harald(*command) as process:
                assert await process.status() == 0, f"run {run}"
            assert (asked(process) == "") == (run > 0)
            assert ("bonded with" in process.output) == (run == 0)


@pytest.mark.parametrize("early", ["yes\n", "yes\nyes\n", "ye", "yes"])
@pytest.mark.parametrize("has_terminal", [False, True], ids=["pipe", "terminal"])
async def test_what_is_typed_before_the_question_is_no_answer(
    binary: str, harald: Start, tmp_path: Path, early: str, has_terminal: bool
) -> None:
    ours, theirs = pty.openpty() if has_terminal else os.pipe()[::-1]
    try:
        async with air("harald", harald) as (controller, transport), peripheral(transport, pairing=Pairing()):
            os.write(ours, early.encode())
            command = exploring(controller, tmp_path / "bonds", "--io-capability", "none")
            async with running(binary, *command, name="harald explore", keyboard=theirs) as process:
                await process.line(r"\[ (pair with .*|.* wants to pair): yes or no\?")
                # Completes the typed line, if any; then the question has been shown.
                if not early.endswith("\n"):
                    os.write(ours, b"s\n" if early == "ye" else b"\n")
                await asyncio.sleep(0.5)
                assert process.child.returncode is None and "bonded with" not in process.output
                os.write(ours, b"no\n")
                assert await process.status() == NOT_SECURED
    finally:
        os.close(ours)
        os.close(theirs)


async def test_bonds_are_listed_and_forgotten(harald: Start, tmp_path: Path) -> None:
    store = tmp_path / "bonds"
    async with air("harald", harald) as (controller, transport):
        command = exploring(controller, store, "--answer", "yes")
        async with peripheral(transport, pairing=Pairing()), harald(*command) as process:
            assert await process.status() == 0
    async with harald("bonds", "list", "--store", str(store)) as listing:
        assert await listing.status() == 0
    found = await listing.line(r"^([0-9A-F-]{36})  F0:9E:16:4A:00:01 .*unauthenticated, Secure Connections, 16 octets")
    async with harald("bonds", "forget", "foreign hr", "--store", str(store)) as forgetting:
        assert await forgetting.status() == 0
    assert f"forgot {found[1]}" in forgetting.output
    async with harald("bonds", "list", "--store", str(store)) as listing:
        assert await listing.status() == 0
    assert "0 bonds" in listing.output


async def test_bonds_stay_where_they_were_made_until_a_person_says_otherwise(harald: Start, tmp_path: Path) -> None:
    store = tmp_path / "bonds"
    async with air("harald", harald) as (controller, transport):
        command = exploring(controller, store, "--answer", "yes")
        async with peripheral(transport, pairing=Pairing()), harald(*command) as process:
            assert await process.status() == 0
    # Controllers with the same addresses at another place.
    async with harald("controllers", "--listen", "0") as others:
        port = (await others.line(r"listening on .*?(\d+)\D*$"))[1]
        controller, transport = f"tcp:127.0.0.1:{port}", f"tcp-client:127.0.0.1:{port}"
        async with peripheral(transport, pairing=Pairing()):
            async with harald(*exploring(controller, store, "--answer", "yes")) as refused:
                assert await refused.status() == 1
            assert f"at tcp:127.0.0.1:{PORT}" in refused.errors and "harald bonds adopt" in refused.errors
            async with harald("bonds", "adopt", "--store", str(store), "--controller", controller) as adopting:
                assert await adopting.status() == 0
            # They can be listed while a program uses them.
            async with harald("serve", "--controller", controller, "--store", str(store)) as serving:
                await serving.line("(?i)advertising|cannot be used")
                async with harald("bonds", "list", "--store", str(store)) as listing:
                    assert await listing.status() == 0
    await listing.line(rf"^1 bond of .* at tcp:127\.0\.0\.1:{port}$")


# --- as peripheral


@asynccontextmanager
async def serving(harald: Start, controller: str, store: Path, way: Way) -> AsyncIterator[Process]:
    options = ["--io-capability", way.ours, "--store", str(store)]
    async with harald("serve", "--controller", controller, *options) as process:
        await process.line("(?i)advertising")
        yield process


async def read_protected(client: Central) -> bytes:
    await client.discover()
    return await client.read(EMAIL)


@pytest.mark.parametrize("air_name", AIRS)
@pytest.mark.parametrize("way", ways())
async def test_pairs_as_peripheral_and_is_known_after_a_restart(
    harald: Start, tmp_path: Path, air_name: str, way: Way
) -> None:
    store, keys = tmp_path / "bonds", tmp_path / "keys.json"
    async with air(air_name, harald) as (controller, transport):
        theirs = Pairing(way.theirs, legacy=way.legacy, keys=keys)
        async with serving(harald, controller, store, way) as process, central(transport, pairing=theirs) as client:
            peer = await client.connect(SERVED)
            with pytest.raises(att.ATT_Error):
                await read_protected(client)
            acting = asyncio.ensure_future(way.act(process, theirs))
            await peer.connection.pair()
            await acting
            if way.is_authenticated or way.ours == "none":
                # A sensor with neither display nor keyboard can require no more than encryption.
                assert await read_protected(client) == EMAIL_VALUE
            else:
                # Values for trusted centrals require pairing with a code (behaviour 6.9).
                with pytest.raises(att.ATT_Error):
                    await read_protected(client)
            await client.disconnect()
    async with air(air_name, harald) as (controller, transport):
        again = Pairing(way.theirs, legacy=way.legacy, keys=keys)
        async with serving(harald, controller, store, way) as process, central(transport, pairing=again) as client:
            peer = await client.connect(SERVED)
            await peer.connection.encrypt()
            if way.is_authenticated or way.ours == "none":
                assert await read_protected(client) == EMAIL_VALUE
            await client.disconnect()
    assert again.paired.empty()
    assert asked(process) == ""


@pytest.mark.parametrize("legacy", [False, True], ids=["sc", "legacy"])
@pytest.mark.parametrize("air_name", AIRS)
async def test_pairs_out_of_band_as_peripheral(harald: Start, tmp_path: Path, air_name: str, legacy: bool) -> None:
    key, store, keys = bytes(range(1, 17)), tmp_path / "bonds", tmp_path / "keys.json"
    theirs = Pairing(legacy=legacy, keys=keys)
    if legacy:
        theirs.temporary_key = key
        options = ["--oob", key[::-1].hex()]
    else:
        theirs.context = OobContext()
        options = ["--share-oob", "--oob", shared_digits(theirs.context.share())]
    options += ["--store", str(store)]
    async with air(air_name, harald) as (controller, transport):
        async with harald("serve", "--controller", controller, *options) as process:
            if not legacy:
                theirs.peer_data = shared_data((await process.line(r"out of band: ([0-9a-f]{64})"))[1])
            await process.line("(?i)advertising")
            async with central(transport, pairing=theirs) as client:
                peer = await client.connect(SERVED)
                await peer.connection.pair()
                assert await read_protected(client) == EMAIL_VALUE
                await client.disconnect()
    assert asked(process) == ""
    # Both restart, and use the bond.
    async with air(air_name, harald) as (controller, transport):
        again = Pairing(legacy=legacy, keys=keys)
        async with harald("serve", "--controller", controller, "--store", str(store)) as process:
            await process.line("(?i)advertising")
            async with central(transport, pairing=again) as client:
                peer = await client.connect(SERVED)
                await peer.connection.encrypt()
                assert await read_protected(client) == EMAIL_VALUE
                await client.disconnect()
    assert again.paired.empty() and asked(process) == ""


@pytest.mark.parametrize("legacy", [False, True], ids=["sc", "legacy"])
@pytest.mark.parametrize("air_name", AIRS)
async def test_a_wrong_code_as_peripheral_fails_on_both_sides(
    harald: Start, tmp_path: Path, air_name: str, legacy: bool
) -> None:
    way = Way("", "display-only", KEYBOARD, enter_there, legacy=legacy)
    async with air(air_name, harald) as (controller, transport):
        theirs = Pairing(KEYBOARD, legacy=legacy)
        async with (
            serving(harald, controller, tmp_path / "bonds", way) as process,
            central(transport, pairing=theirs) as client,
        ):
            peer = await client.connect(SERVED)
            pairing = asyncio.ensure_future(peer.connection.pair())
            shown = await process.line(r"\[ .*: enter the code (\d{6}) on it")
            theirs.person.code.put_nowait((int(shown[1]) + 1) % 1_000_000)
            with pytest.raises(ProtocolError) as failure:
                await pairing
            assert failure.value.error_code == ErrorCode.CONFIRM_VALUE_FAILED
            await process.line(r"pairing with ([0-9A-F]{2}:){5}[0-9A-F]{2} failed: .*(?i:confirm value).*; .+")
