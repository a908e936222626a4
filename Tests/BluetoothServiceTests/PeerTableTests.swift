import BluetoothTypes
import Bonds
import EventLoops
import Foundation
import Testing

@testable import BluetoothService

@Suite struct PeerTableTests {
    private func address(_ value: Int) -> BluetoothAddress { BluetoothAddress(UInt64(value), kind: .randomDevice) }

    @Test func behaviour_6_19_anAddressKeepsItsIdentifier() {
        var table = PeerTable(random: RandomSource(seed: 1))
        let first = table.see(address(1))
        #expect(table.see(address(1)).identifier == first.identifier)
        #expect(table.see(BluetoothAddress(1, kind: .randomIdentity)).identifier == first.identifier)
        #expect(table.see(BluetoothAddress(1, kind: .publicDevice)).identifier != first.identifier)
        #expect(PeerTable(random: RandomSource(seed: 1))[first.identifier] == nil)
    }

    @Test func behaviour_6_18_aBondedPeerKeepsItsIdentifierWhateverAddressItShows() {
        var table = PeerTable(random: RandomSource(seed: 1))
        let stranger = table.see(address(1))
        // It pairs, and its identity address becomes known.
        let bonded = table.see(address(9), as: stranger.identifier)
        #expect(bonded.identifier == stranger.identifier && bonded.address == address(9))
        #expect(table.see(address(9)).identifier == stranger.identifier)
        // Whoever shows the old private address now is somebody else.
        #expect(table.see(address(1)).identifier != stranger.identifier)
        #expect(table[stranger.identifier]?.address == address(9))
    }

    @Test func theNamesOfBondedPeersGoBothWays() {
        for seed in 0..<20 as Range<UInt64> {
            let uuid = UUID(random: RandomSource(seed: seed))
            #expect(UUID(BondIdentifier(uuid)) == uuid)
            #expect(BondIdentifier(uuid).description.uppercased() == uuid.uuidString)
        }
    }

    @Test func behaviour_2_23_theDeviceNameWins() {
        var table = PeerTable(random: RandomSource(seed: 1))
        let peer = table.see(address(1)).identifier
        #expect(table[peer]?.name == nil)
        table.setAdvertisedName("advertised", of: peer)
        table.setAdvertisedName(nil, of: peer)
        #expect(table[peer]?.name == "advertised")
        table.setDeviceName("device", of: peer)
        table.setAdvertisedName("other", of: peer)
        #expect(table[peer]?.name == "device")
    }

    @Test func AB_G02_thePeersThatAreHeldStay() {
        var table = PeerTable(random: RandomSource(seed: 1))
        let held = table.see(BluetoothAddress(0xFFFF_FFFF_FFFF, kind: .randomDevice)).identifier
        table.hold(held)
        for index in 0..<100_000 { _ = table.see(address(index)) }
        #expect(table.count <= PeerTable.maximumPeers + 1)
        #expect(table[held] != nil)
        table.release(held)
        for index in 0..<10_000 { _ = table.see(address(index)) }
        #expect(table[held] == nil)
    }
}
