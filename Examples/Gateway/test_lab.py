#!/usr/bin/env python3
"""Tests of lab.py that need no build."""
import asyncio
import socket
import tempfile
import unittest
from pathlib import Path

import lab


def message(number: int, gateway: str = "g1", published: int = 1, **more: object) -> dict:
    return {"gateway": gateway, "sensor": "S1", "sequence": number, "value": number * 7, "published": published, **more}


class Judgement(unittest.TestCase):
    def faults(self, *messages: dict, records: int = 2) -> dict[str, list[tuple[str, int]]]:
        return {name: found for name, found in lab.judge(list(messages), ["S1"], records).faults.items() if found}

    def test_all_is_well(self) -> None:
        self.assertEqual(self.faults(message(1), message(2)), {})

    def test_a_value_that_never_comes_is_lost(self) -> None:
        self.assertEqual(self.faults(message(1)), {"lost": [("S1", 2)]})

    def test_a_repetition_needs_a_mark(self) -> None:
        self.assertEqual(self.faults(message(1), message(2), message(2, "g2")), {"repeated without a mark": [("S1", 2)]})
        self.assertEqual(self.faults(message(1), message(2), message(2, "g1", 9)), {"repeated without a mark": [("S1", 2)]})
        self.assertEqual(self.faults(message(1), message(2), message(2, "g2", repeated=True)), {})

    def test_the_mark_may_be_on_the_copy_that_comes_first(self) -> None:
        self.assertEqual(self.faults(message(1), message(2, "g2", repeated=True), message(2)), {})

    def test_the_broker_may_repeat_a_message_as_it_is(self) -> None:
        verdict = lab.judge([message(1), message(1), message(2)], ["S1"], 2)
        self.assertEqual(verdict.duplicates, 1)
        self.assertEqual(verdict.faults["repeated without a mark"], [])

    def test_a_wrong_value(self) -> None:
        self.assertEqual(self.faults(message(1), {**message(2), "value": 0}), {"wrong": [("S1", 2)]})


class Advice(unittest.TestCase):
    def test_advice_is_found_among_other_lines_and_hints_are_not(self) -> None:
        lines = ["connected to the broker", "== Harald: gateway could do better in 2 ways ==", "12.4 gateway scanned. Stop.",
                 "12.18 sensor published. Use the permission. (A hint only.)", "the scan ended: 12.4"]
        self.assertEqual(lab.advice("\n".join(lines)), ["12.4 gateway scanned. Stop."])


class Relay(unittest.TestCase):
    def test_a_program_that_comes_after_the_controllers_is_turned_away(self) -> None:
        with socket.socket() as gone:
            gone.bind(("127.0.0.1", 0))
            port = gone.getsockname()[1]
        problems = []

        async def come(path: Path) -> bytes:
            relay = lab.Relay.__new__(lab.Relay)
            relay.path, relay.port = path, port
            asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context["message"]))
            async with await asyncio.start_unix_server(relay.connect, str(path)):
                reader, writer = await asyncio.open_unix_connection(str(path))
                answer = await reader.read()
                writer.close()
            return answer

        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(asyncio.run(asyncio.wait_for(come(Path(folder, "radio")), 30)), b"")
        self.assertEqual(problems, [])


if __name__ == "__main__":
    unittest.main()
