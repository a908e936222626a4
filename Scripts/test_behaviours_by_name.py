#!/usr/bin/env python3
"""Tests the index of behaviours by API name. Run by Scripts/lint."""
import sys
import unittest

import behaviours_by_name as names

CHECKLIST = '''symbol,kind,since,status
CBManager,class,10.0,expected
CBManager.state: CBManagerState,property,10.0,expected
CBPeer.identifier: UUID,property,7.0,expected
"CBCentralManager.connect(_: CBPeripheral, options: [String: Any]?)",method,5.0,expected
"CBCentralManagerDelegate.centralManager(_: CBCentralManager, didConnect: CBPeripheral)",delegate,5.0,expected
CBCentralManagerDelegate.centralManagerDidUpdateState(_: CBCentralManager),delegate,5.0,expected
CBPeripheralDelegate.peripheralIsReady(toSendWriteWithoutResponse: CBPeripheral),delegate,11.0,expected
CBPeripheralManagerDelegate.peripheralManagerIsReady(toUpdateSubscribers: CBPeripheralManager),delegate,6.0,expected
'''
RULES = '''
## Index by API

| symbol | rules |
| --- | --- |
| `CBManager.state`, `…DidUpdateState` | 1.1–1.3 |

## 1 States

- **1.1** `state` is unknown
  at first. — HDR
- **1.2** Then comes another. — HDR
- **1.3** A call of `connect(_:options:)` fails. — HDR

## 2 Others

- **2.1** `CBPeripheral.identifier` and `didConnect`; `reconnect` is no name. — HDR
'''


class Index(unittest.TestCase):
    def setUp(self) -> None:
        self.symbols = names.symbols(CHECKLIST)

    def named(self, quoted: str) -> list[str]:
        return sorted(each.name for each in names.meant(quoted, self.symbols))

    def test_names(self) -> None:
        for quoted, found in {
            "connect(_:options:)": ["connect"], "connect": ["connect"], "CBManager.state": ["state"], "CBError.state": [],
            "CBPeripheral.identifier": ["identifier"], "…DidUpdateState": ["centralManagerDidUpdateState"],
            "…IsReady(toUpdateSubscribers:)": ["peripheralManagerIsReady"], "centralManager(_:didConnect:)": ["didConnect"],
            "a b": [], "180D": [],
        }.items():
            self.assertEqual(self.named(quoted), found, quoted)

    def test_the_document(self) -> None:
        rows = names.index(RULES, CHECKLIST).removeprefix(names.HEAD).splitlines()
        self.assertEqual(rows, [
            "| `centralManagerDidUpdateState` | `CBCentralManagerDelegate` | 1.1–1.3 |",
            "| `connect` | `CBCentralManager` | 1.3 |",
            "| `didConnect` | `CBCentralManagerDelegate` | 2.1 |",
            "| `identifier` | `CBPeer` | 2.1 |",
            "| `state` | `CBManager` | 1.1–1.3 |",
        ])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--quiet"])
