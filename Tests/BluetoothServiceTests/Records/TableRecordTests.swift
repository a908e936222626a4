import BluetoothTypes
import Foundation
import GATT
import Security
import Testing

@testable import BluetoothService

/// Saved attribute tables of peers that are not bonded.
@Suite struct TableRecordTests {
    private func table(_ services: Int) -> AttributeCache {
        var table = AttributeCache()
        table.services = (0..<UInt16(services)).map { DiscoveredService(handles: $0 + 1...$0 + 1, uuid: 0x180D) }
        return table
    }

    @Test(
        "AB-G02: cached tables of unbonded peers are bounded in number and size, and distinguished from those already saved"
    )
    func tablesThatAreKeptAreBounded() {
        var record = TableRecord(run: "today")
        func isNew(_ found: AttributeCache?, _ peer: UUID) -> Bool { record.set(found, of: peer) }
        let peers = (0...KnownTable.maximumPeers).map { _ in UUID() }
        for peer in peers { #expect(isNew(table(1), peer)) }
        #expect(record.entries.map(\.peer) == Array(peers.dropFirst()))
        #expect(!isNew(table(1), peers[1]) && isNew(table(2), peers[1]))
        #expect(record.entries.last?.peer == peers[1])
        // A table that has grown too large is dropped.
        #expect(isNew(table(KnownTable.maximumAttributes + 1), peers[1]))
        #expect(record.entries.count == KnownTable.maximumPeers - 1)
        #expect(!isNew(nil, peers[1]) && isNew(nil, peers[2]))
    }

    @Test("AB-G02: a record with more content than is ever saved is refused")
    func oversizedRecordsAreRefused() throws {
        var record = TableRecord(run: String(repeating: "a", count: TableRecord.maximumRun + 1))
        #expect(throws: PacketError.self) { try TableRecord(reading: record.encoded()) }
        record.run = "today"
        _ = record.set(table(3), of: UUID())
        #expect(try TableRecord(reading: record.encoded()) == record)
        var octets = record.encoded().bytes
        // The same peer twice.
        let entry = octets.suffix(from: 2 + 2 + 5 + 2)
        octets[2 + 2 + 5] = 2
        #expect(throws: PacketError.self) { try TableRecord(reading: PacketBuffer(octets + entry)) }
    }

    /// A record as another program might write it.
    private func octets(of tables: [AttributeCache]) -> PacketBuffer {
        var (octets, count) = ([UInt8](), 0)
        for table in tables {
            var record = TableRecord(run: "")
            _ = record.set(table, of: UUID())
            octets += record.encoded().bytes.dropFirst(2 + 2 + 2)
            count += 1
        }
        return PacketBuffer([1, 0, 0, 0, UInt8(count & 0xFF), UInt8(count >> 8)] + octets)
    }

    @Test("AB-G02: a record with more peers, or larger tables, than are ever saved is refused")
    func moreThanIsEverKept() throws {
        let most = Array(repeating: table(1), count: KnownTable.maximumPeers)
        #expect(try TableRecord(reading: octets(of: most)).entries.count == KnownTable.maximumPeers)
        #expect(throws: PacketError.self) { try TableRecord(reading: octets(of: most + [table(1)])) }
        // One attribute more than `set` accepts, after a peer's identifier and the length of the rest.
        let large = table(KnownTable.maximumAttributes + 1).octets
        let length = [UInt8(large.count & 0xFF), UInt8(large.count >> 8)]
        let head = octets(of: [table(1)]).bytes.prefix(2 + 2 + 2 + 16)
        #expect(try TableRecord(reading: octets(of: [table(2)])).entries.map(\.found) == [table(2)])
        #expect(octets(of: [table(1)]).bytes.count == head.count + 2 + table(1).octets.count)
        #expect(throws: PacketError.self) { try TableRecord(reading: PacketBuffer(head + length + large.bytes)) }
    }
}
