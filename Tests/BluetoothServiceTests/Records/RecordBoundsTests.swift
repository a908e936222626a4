import BluetoothTypes
import Foundation
import HCIHost
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// How much records take, as other releases of the service write and read them.
@Suite struct RecordBoundsTests {
    private func reads<Record: PacketFields>(_ record: Record) -> Bool {
        (try? Record(reading: record.encoded())) != nil
    }

    private func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test("AB-G05: the texts of records have bounds, to the octet")
    func texts() {
        for (count, isRead) in [(0, true), (64, true), (65, false)] {
            #expect(reads(TableRecord(run: text(count))) == isRead, "\(count)")
        }
        for (count, isRead) in [(0, true), (32, true), (33, false)] {
            #expect(reads(ProcessMark(number: 1, beginning: text(count))) == isRead, "\(count)")
        }
        let firmware = ControllerMemory.Firmware(version: 1, revision: 2, subversion: 3)
        for (count, isRead) in [(256, true), (257, false)] {
            var record = ControllerRecord()
            record.entries = [.init(device: .init(place: text(count), company: 4), firmware: firmware, fallbacks: [])]
            #expect(reads(record) == isRead && ControllerRecord(record.entries).entries.isEmpty != isRead, "\(count)")
        }
        #expect(AppDecision(.denied, executable: text(1_024)).executable?.count == 1_024)
        #expect(AppDecision(.denied, executable: text(1_025)).executable == nil)
        var names = NameRecord()
        names.set(text(Bond.maximumName), of: .blank)
        #expect(names.entries.count == 1)
        #expect(reads(names))
    }

    @Test("AB-G05: 512 names and 1,024 decisions are kept")
    func counts() {
        var names = NameRecord()
        let peers = (0..<513).map { UUID([UInt8](repeating: 0, count: 14) + [UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
        for peer in peers { names.set("Belt", of: peer) }
        #expect(names.entries.map(\.peer) == Array(peers.dropFirst()))
        for (count, isRead) in [(1_024, true), (1_025, false)] {
            let apps = (0..<count).map { (AppIdentity(name: "\($0)"), AppDecision(.denied)) }
            #expect(reads(PermissionRecord(Dictionary(uniqueKeysWithValues: apps))) == isRead, "\(count)")
        }
    }

    @Test("a record is of the version that this release writes")
    func versions() {
        #expect(AppRecord().encoded().bytes.prefix(2) == [4, 0])
        #expect(PermissionRecord().encoded().bytes.prefix(2) == [2, 0])
        #expect(NameRecord().encoded().bytes.prefix(2) == [1, 0])
        #expect(TableRecord(run: "").encoded().bytes.prefix(2) == [1, 0])
        #expect(ControllerRecord().encoded().bytes.prefix(2) == [1, 0])
        #expect(AccessoryRecord().encoded().bytes.prefix(2) == [1, 0])
    }

    @Test("a name that is set again is not written anew, and one that is taken away is not kept")
    func names() {
        var names = NameRecord()
        let peers = (1...2).map { UUID([UInt8](repeating: $0, count: 16)) }
        for peer in peers { names.set("Belt", of: peer) }
        let before = names
        names.set("Belt", of: peers[0])
        #expect(names == before)
        names.set("Gurt", of: peers[0])
        #expect(names.entries.map(\.peer) == [peers[1], peers[0]] && names.name(of: peers[0]) == "Gurt")
        names.set(nil, of: peers[1])
        names.set(nil, of: .blank)
        #expect(names.entries.map(\.peer) == [peers[0]])
        names.set(text(Bond.maximumName + 1), of: peers[0])
        #expect(names.entries.isEmpty)
    }
}
