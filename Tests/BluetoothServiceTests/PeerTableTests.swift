import BluetoothTypes
import Cryptography
import EventLoops
import Foundation
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct PeerTableTests {
    private func address(_ value: Int) -> BluetoothAddress { BluetoothAddress(UInt64(value), kind: .randomDevice) }

    @Test("behaviour 6.19: an address keeps its identifier")
    func anAddressKeepsItsIdentifier() {
        var table = PeerTable(seed: 1)
        let first = table.see(address(1))
        #expect(table.see(address(1)).identifier == first.identifier)
        #expect(table.see(BluetoothAddress(1, kind: .randomIdentity)).identifier == first.identifier)
        #expect(table.see(BluetoothAddress(1, kind: .publicDevice)).identifier != first.identifier)
    }

    @Test("behaviour 6.18: a bonded peer keeps its identifier whatever address it shows")
    func aBondedPeerKeepsItsIdentifierWhateverAddressItShows() {
        var table = PeerTable(seed: 1)
        let stranger = table.see(address(1))
        // The peer pairs, and its identity address becomes known.
        let bonded = table.see(address(9), as: stranger.identifier)
        #expect(bonded.identifier == stranger.identifier)
        #expect(bonded.address == address(9))
        #expect(table.see(address(9)).identifier == stranger.identifier)
        // A peer that uses the old private address from now on is a different one.
        #expect(table.see(address(1)).identifier != stranger.identifier)
        #expect(table[stranger.identifier]?.address == address(9))
    }

    /// Holds after a restart, and on another host.
    @Test("behaviours 6.19, 11.3, 15.21: peer identifiers outlive the table, and differ on another host")
    func identifiersOutlastTheTable() {
        var before = PeerTable(seed: 1)
        var after = PeerTable(seed: 1)
        var elsewhere = PeerTable(seed: 2)
        for value in [0, 1, 0x5555_5555_5555, 0xFFFF_FFFF_FFFF] {
            for kind in [BluetoothAddress.Kind.publicDevice, .randomDevice] {
                let known = before.see(BluetoothAddress(UInt64(value), kind: kind))
                #expect(after[known.identifier] == nil)
                let recalled = after.recall(known.identifier)
                #expect(recalled?.identifier == known.identifier)
                #expect(recalled?.address == known.address)
                let (here, recalledElsewhere) = (after.see(known.address), elsewhere.recall(known.identifier))
                let there = elsewhere.see(known.address)
                #expect(here.identifier == known.identifier)
                #expect(recalledElsewhere == nil)
                #expect(there.identifier != known.identifier)
            }
        }
        #expect(after.count == 8)
    }

    /// An app cannot forge an identifier that stands for an address.
    @Test("behaviour 11.3: an identifier that this host has not assigned is unknown")
    func unassignedIdentifiersAreUnknown() {
        var table = PeerTable(seed: 1)
        let name = PeerTable.names(seed: 1).name(of: address(77))
        for bit in 0..<128 {
            let octets = withUnsafeBytes(of: name.uuid) { Array($0) }
            let changed = octets.enumerated().map { $1 ^ ($0 == bit / 8 ? 1 << (bit % 8) : 0) }
            let found = table.recall(UUID(changed))
            #expect(found == nil, "bit \(bit)")
        }
        let known = (0..<1_000).compactMap { _ in table.recall(UUID()) }
        #expect(known.isEmpty)
        #expect(table.count == 0)
        let recalled = table.recall(name)
        #expect(recalled?.address == address(77))
    }

    /// The identifier stays with the bonded peer and resolves to no other device.
    @Test("behaviour 6.18: the identifier of an address that a bonded peer had belongs to that peer alone")
    func theNameOfAnAddressThatABondedPeerHadIsTaken() {
        var table = PeerTable(seed: 1)
        let stranger = table.see(address(1)).identifier
        _ = table.see(address(9), as: stranger)
        let other = table.see(address(1)).identifier
        let bonded = table.recall(stranger)
        #expect(other != stranger)
        #expect(bonded?.address == address(9))
        // After a restart, the bond is restored first.
        var after = PeerTable(seed: 1)
        _ = after.see(address(9), as: stranger)
        let again = after.see(address(1)).identifier
        #expect(again == other)
        // The identifier that the identity address would have had does not resolve to the bonded peer.
        let byAddress = after.recall(PeerTable.names(seed: 1).name(of: address(9)))
        #expect(byAddress == nil)
    }

    /// Identifiers are version 4 UUIDs (RFC 9562 5.4), and none occurs twice.
    @Test func identifiersLookAlike() {
        let names = PeerTable.names(seed: 3)
        var all: Set<UUID> = []
        for value in 0..<500 {
            for number in 0..<PeerNames.perAddress {
                let name = names.name(of: address(value), number: number)
                #expect(name.uuid.6 >> 4 == 4)
                #expect(name.uuid.8 >> 6 == 2)
                #expect(names.address(of: name)?.number == number)
                all.insert(name)
            }
        }
        #expect(all.count == 500 * Int(PeerNames.perAddress))
    }

    @Test func theNamesOfBondedPeersGoBothWays() {
        for _ in 0..<20 {
            let uuid = UUID()
            #expect(UUID(BondIdentifier(uuid)) == uuid)
            #expect(BondIdentifier(uuid).description.uppercased() == uuid.uuidString)
        }
    }

    @Test("behaviour 2.23: the device name takes precedence over the advertised name")
    func theDeviceNameWins() {
        var table = PeerTable(seed: 1)
        let peer = table.see(address(1)).identifier
        #expect(table[peer]?.name == nil)
        table.noteAdvertisement(peer, name: "advertised", rssi: 0, at: .zero)
        table.noteAdvertisement(peer, name: nil, rssi: 0, at: .zero)
        #expect(table[peer]?.name == "advertised")
        table.setDeviceName("device", of: peer)
        table.noteAdvertisement(peer, name: "other", rssi: 0, at: .zero)
        #expect(table[peer]?.name == "device")
    }

    @Test("AB-G02: peers in use stay in a full table")
    func thePeersThatAreHeldStay() {
        var table = PeerTable(seed: 1)
        let held = table.see(BluetoothAddress(0xFFFF_FFFF_FFFF, kind: .randomDevice)).identifier
        table.hold(held)
        for index in 0..<20_000 { _ = table.see(address(index)) }
        #expect(table.count <= PeerTable.maximumPeers + 1)
        #expect(table[held] != nil)
        table.release(held)
        for index in 0..<10_000 { _ = table.see(address(index)) }
        #expect(table[held] == nil)
    }
}

extension PeerTable {
    private static func secret(_ seed: UInt64) -> Key128 { Key128(Block128(high: seed, low: 0x5EC2_E7)) }

    init(seed: UInt64) {
        self.init { Self.secret(seed) }
    }

    static func names(seed: UInt64) -> PeerNames { PeerNames(secret(seed)) }
}
