import BluetoothTypes
import Cryptography
import EventLoops
import GAP
import HCI
import Logging
import SMP
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// A system whose controller is replaced at run time.
@Suite struct AdapterTests {
    private func bond() throws -> Bond {
        var keys = PeerKeys(level: KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true))
        let key = EncryptionKey(key: Key128(Block128(high: 1, low: 2)), diversifier: 0, random: 0)
        (keys.localKey, keys.peerKey) = (key, key)
        let identifier = try #require(BondIdentifier([UInt8](repeating: 7, count: 16)))
        let address = BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice)
        return Bond(identifier: identifier, address: address, keys: keys)
    }

    /// A controller that replaces another on the same transport must neither receive nor damage the other's bonds.
    @Test("AB-H08: a controller that replaces another in a running system does not get the bonds")
    func aControllerExchangedWhileRunningDoesNotGetTheBonds() throws {
        let air = RadioWorld()
        let line = InMemoryTransport.pair(loop: air.world.loop)
        air.attach(to: line.controller, number: 1)
        let system = BluetoothSystem(
            controllers: ControllerSource(line.host),
            loop: air.world.loop,
            random: RandomSource(seed: 3),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        var notices: [SystemNotice] = []
        system.observers.add(.notices) { if case .noticed(let notice) = $0.content { notices.append(notice) } }
        system.start()
        air.world.run(.seconds(1))
        let own = try #require(system.peers.bonds?.identity)
        _ = try #require(system.peers.bonds).add(bond())
        func exchange(for number: UInt64) {
            system.controllers.setPower(false)
            air.world.run(.seconds(1))
            air.attach(to: line.controller, number: number)
            system.controllers.setPower(true)
            air.world.run(.seconds(1))
        }
        exchange(for: 1)
        #expect(system.controllers.state == .poweredOn)
        #expect(system.peers.bondedPeers.count == 1)
        #expect(notices.isEmpty)
        exchange(for: 2)
        #expect(system.controllers.state == .poweredOn)
        #expect(system.peers.bondedPeers.isEmpty)
        #expect(system.peers.deviceSecurity.bonds == nil)
        #expect(system.controllers.device?.privacy.peers.isEmpty == true)
        // Nor does the new controller use the identity of the old one.
        #expect(system.controllers.device?.privacy.identity?.key != own.key)
        #expect(notices.contains { "\($0)".contains("belong to the adapter") }, "\(notices)")
        exchange(for: 1)
        #expect(system.peers.bondedPeers.count == 1)
        #expect(system.controllers.device?.privacy.identity?.key == own.key)
    }
}
