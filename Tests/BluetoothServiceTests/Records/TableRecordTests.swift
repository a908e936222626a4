import BluetoothTypes
import Foundation
import GATT
import Testing

@testable import BluetoothService

/// What is kept of the tables of strangers.
@Suite struct TableRecordTests {
    private func table(_ services: Int) -> AttributeCache {
        var table = AttributeCache()
        table.services = (0..<UInt16(services)).map { RemoteService(handles: $0 + 1...$0 + 1, uuid: 0x180D) }
        return table
    }

    @Test(
        "AB-G02: tables that are kept of strangers are bounded, in number and in size, and told from those that are kept"
    )
    func tablesThatAreKeptAreBounded() {
        var record = TableRecord(run: "today")
        func isNew(_ found: AttributeCache?, _ peer: UUID) -> Bool { record.set(found, of: peer) }
        let peers = (0...KnownTable.maximumPeers).map { _ in UUID() }
        for peer in peers { #expect(isNew(table(1), peer)) }
        #expect(record.entries.map(\.peer) == Array(peers.dropFirst()))
        #expect(!isNew(table(1), peers[1]) && isNew(table(2), peers[1]))
        #expect(record.entries.last?.peer == peers[1])
        // One that has grown too large is forgotten.
        #expect(isNew(table(KnownTable.maximumAttributes + 1), peers[1]))
        #expect(record.entries.count == KnownTable.maximumPeers - 1)
        #expect(!isNew(nil, peers[1]) && isNew(nil, peers[2]))
    }

    @Test("AB-G02: a record with more than is ever written is refused")
    func whatIsNeverWritten() throws {
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
}
