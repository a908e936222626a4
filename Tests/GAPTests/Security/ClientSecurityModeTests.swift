import ATT
import BluetoothTypes
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// Values that a server sends over a link less secure than the client requires (Core Vol 3 Part C 10.3.2.2), between
/// two complete devices. The role is that of the client.
@Suite struct ClientSecurityModeTests {
    /// A client that has subscribed to a value of a server that sends it on any link.
    private final class Subscription {
        let pair: SecurePair
        let role: LERole
        let arrival: ClientConfiguration
        private let place: PublishedCharacteristic
        private var values: [UInt8] = []

        var client: SecureDevice { pair.device(role) }
        var server: SecureDevice { pair.device(role == .central ? .peripheral : .central) }

        init(_ role: LERole, _ arrival: ClientConfiguration, _ configuration: PairingConfiguration) throws {
            pair = try SecurePair(central: configuration, peripheral: configuration)
            self.role = role
            self.arrival = arrival
            let definition = CharacteristicDefinition(
                0xF1F1,
                properties: arrival == .notify ? .notify : .indicate,
                permissions: AttributePermissions()
            )
            let service = ServiceDefinition(0xF1F0, characteristics: [definition])
            place = try pair.device(role == .central ? .peripheral : .central).server.database.add(service)
                .characteristics[0]
            for device in [pair.central, pair.peripheral] { device.deviceSecurity.policy.encryptsBondedPeers = false }
        }

        /// Bonds and subscribes to the value.
        func begin() throws {
            try pair.bond()
            let characteristic = DiscoveredCharacteristic(
                declaration: place.value - 1,
                value: place.value,
                end: place.value + 1,
                properties: arrival == .notify ? .notify : .indicate,
                uuid: 0xF1F1
            )
            var result: Result<Void, GATTError>?
            try #require(client.client).setNotifying(true, characteristic, descriptor: place.configuration) {
                result = $0
            }
            pair.world.run { result != nil }
            #expect(result?.isSuccess == true)
            listen()
            #expect(try send(0) == [0])
        }

        /// Reconnects without encryption. The server remembers the subscription.
        func reconnect() throws {
            let record = try #require(server.session).record
            pair.disconnect()
            try pair.connect()
            try #require(server.session).restore(record)
            listen()
            #expect(client.link?.secureLink.linkSecurity.isEncrypted == false)
        }

        private func listen() {
            client.client?.onValue = { [unowned self] _, value, _ in values.append(value.first ?? 0xFF) }
        }

        /// Sends a value from the server and returns what arrives. An indication is confirmed in any case: otherwise
        /// the server would give up after 30 seconds.
        func send(_ value: UInt8) throws -> [UInt8] {
            values = []
            let session = try #require(server.session)
            #expect(server.server.update([value], of: place.value))
            pair.world.run(arrival == .notify ? .seconds(1) : .seconds(31))
            #expect(session.bearer.closure == nil)
            return values
        }
    }

    private func level2(_ role: LERole, _ arrival: ClientConfiguration) throws {
        let subscription = try Subscription(role, arrival, PairingConfiguration())
        try subscription.begin()
        try subscription.reconnect()
        #expect(try subscription.send(1) == [])
        #expect(try #require(try subscription.pair.secure(role)).isSuccess)
        #expect(try subscription.send(2) == [2])
    }

    /// The bond is unauthenticated, and the client requires better.
    private func level3(_ role: LERole, _ arrival: ClientConfiguration) throws {
        var mute = PairingConfiguration()
        mute.ioCapability = .noInputNoOutput
        let subscription = try Subscription(role, arrival, mute)
        try subscription.begin()
        try subscription.reconnect()
        try #require(subscription.client.client).requirement = .authenticated
        #expect(try subscription.send(1) == [])
        #expect(try #require(try subscription.pair.secure(role)).isSuccess)
        let link = try #require(subscription.client.link)
        #expect(link.secureLink.linkSecurity.isEncrypted)
        #expect(!link.secureLink.linkSecurity.isAuthenticated)
        #expect(try subscription.send(2) == [])
        for device in [subscription.client, subscription.server] {
            device.deviceSecurity.configuration = PairingConfiguration()
        }
        #expect(try #require(try subscription.pair.secure(role, .authenticated)).isSuccess)
        #expect(try subscription.send(3) == [3])
    }

    /// The bond comes from legacy pairing, and the client enters Secure Connections Only mode.
    private func secureConnectionsOnly(_ role: LERole, _ arrival: ClientConfiguration) throws {
        var legacy = PairingConfiguration()
        legacy.legacy = .only
        let subscription = try Subscription(role, arrival, legacy)
        try subscription.begin()
        let before = try #require(subscription.client.link).secureLink.linkSecurity
        #expect(before.isEncrypted)
        #expect(before.isAuthenticated)
        #expect(!before.isSecureConnections)
        subscription.client.deviceSecurity.configuration = .secureConnectionsOnly
        subscription.server.deviceSecurity.configuration = PairingConfiguration()
        try #require(subscription.client.client).requirement = .encrypted
        #expect(try subscription.send(1) == [])
        try subscription.reconnect()
        try #require(subscription.client.client).requirement = .encrypted
        #expect(try subscription.send(2) == [])
        #expect(try #require(try subscription.pair.secure(role, .secureConnections)).isSuccess)
        #expect(try subscription.send(3) == [3])
    }

    @Test("GAP/SEC/SEM/BV-56, AB-A09: a peripheral rejects indications below level 2")
    func aPeripheralRejectsIndicationsBelowLevel2() throws {
        try level2(.peripheral, .indicate)
    }

    @Test("GAP/SEC/SEM/BV-57, AB-A09: a peripheral rejects indications below level 3")
    func aPeripheralRejectsIndicationsBelowLevel3() throws {
        try level3(.peripheral, .indicate)
    }

    @Test("GAP/SEC/SEM/BV-58, AB-A09: a peripheral rejects indications below level 4")
    func aPeripheralRejectsIndicationsBelowLevel4() throws {
        try secureConnectionsOnly(.peripheral, .indicate)
    }

    @Test("GAP/SEC/SEM/BV-59, AB-A09: a peripheral rejects notifications below level 2")
    func aPeripheralRejectsNotificationsBelowLevel2() throws {
        try level2(.peripheral, .notify)
    }

    @Test("GAP/SEC/SEM/BV-60, AB-A09: a peripheral rejects notifications below level 3")
    func aPeripheralRejectsNotificationsBelowLevel3() throws {
        try level3(.peripheral, .notify)
    }

    @Test("GAP/SEC/SEM/BV-61, AB-A09: a peripheral rejects notifications below level 4")
    func aPeripheralRejectsNotificationsBelowLevel4() throws {
        try secureConnectionsOnly(.peripheral, .notify)
    }

    @Test("GAP/SEC/SEM/BV-62, AB-A09: a central rejects indications below level 2")
    func aCentralRejectsIndicationsBelowLevel2() throws {
        try level2(.central, .indicate)
    }

    @Test("GAP/SEC/SEM/BV-63, AB-A09: a central rejects indications below level 3")
    func aCentralRejectsIndicationsBelowLevel3() throws {
        try level3(.central, .indicate)
    }

    @Test("GAP/SEC/SEM/BV-64, AB-A09: a central rejects indications below level 4")
    func aCentralRejectsIndicationsBelowLevel4() throws {
        try secureConnectionsOnly(.central, .indicate)
    }

    @Test("GAP/SEC/SEM/BV-65, AB-A09: a central rejects notifications below level 2")
    func aCentralRejectsNotificationsBelowLevel2() throws {
        try level2(.central, .notify)
    }

    @Test("GAP/SEC/SEM/BV-66, AB-A09: a central rejects notifications below level 3")
    func aCentralRejectsNotificationsBelowLevel3() throws {
        try level3(.central, .notify)
    }

    @Test("GAP/SEC/SEM/BV-67, AB-A09: a central rejects notifications below level 4")
    func aCentralRejectsNotificationsBelowLevel4() throws {
        try secureConnectionsOnly(.central, .notify)
    }
}
