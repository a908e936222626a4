import ATT
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import HCI
import SMP
import Security
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Reconnections of bonded devices, bonds that one side has lost, and bonds beyond the limit.
@Suite struct BondTests {
    /// A bonded phone and sensor, disconnected.
    private func bonded(
        seed: UInt64 = 1,
        phoneCapture: Locked<[UInt8]>? = nil,
        configure: @escaping @Sendable (inout SystemConfiguration, _ isPhone: Bool) -> Void = { _, _ in }
    ) throws -> (TrustWorld, TrustCentral) {
        let trust = TrustWorld(seed: seed, phoneCapture: phoneCapture, configure: configure)
        let app = try trust.visitor()
        app.read(Trust.email)
        try #require(try app.expect("value").error == nil)
        try app.leave()
        try #require(trust.phone.pairedPeers.count == 1 && trust.sensor.pairedPeers.count == 1)
        trust.sensorApp.forget()
        return (trust, app)
    }

    @Test("behaviour 6.11: the link to a bonded device is encrypted before any other traffic")
    func aBondedDeviceIsEncryptedBeforeAnythingElse() throws {
        let (trust, app) = try bonded()
        let alerts = trust.watchAlerts()
        app.connect()
        try app.expect("connected")
        let isEncrypted = trust.phone.withSystem { $0.links.all.first?.secureLink.linkSecurity.isEncrypted }
        #expect(isEncrypted == true)
        try app.leave()
        try app.pair()
        #expect(alerts.all.isEmpty)
    }

    @Test("behaviour 6.10: all apps share the bond")
    func allAppsShareTheBond() throws {
        let (trust, _) = try bonded()
        let alerts = trust.watchAlerts()
        let other = try trust.app()
        try other.pair()
        #expect(alerts.all.isEmpty)
    }

    @Test("behaviour 6.12: a peer that has lost its keys is refused until its bond is removed")
    func aPeerThatHasLostItsKeysIsRefusedUntilItIsForgotten() throws {
        let (trust, app) = try bonded()
        let alerts = trust.watchAlerts()
        trust.sensor.forget(try #require(trust.sensor.pairedPeers.first?.identifier))
        for _ in 1...2 {
            app.connect()
            #expect(try app.expect("failed to connect").error?.core == .peerRemovedPairingInformation)
            trust.world.run(for: .seconds(1))
            #expect(app.log.isEmpty)
        }
        // There is no silent pairing, and the person is notified.
        #expect(alerts.all.isEmpty)
        #expect(trust.phone.pairedPeers.count == 1)
        let told = trust.phone.person.notices.filter { $0.contains("has removed its pairing information") }
        #expect(!told.isEmpty && told.allSatisfy { $0.hasSuffix("; forget it here to pair again") }, "\(told)")
        #expect(trust.sensorApp.log.isEmpty)
        // After the bond is removed, the two pair like strangers.
        trust.phone.forget(try #require(trust.phone.pairedPeers.first?.identifier))
        try app.pair()
        #expect(alerts.all.count == 2)
    }

    @Test("behaviour 6.14: a phone that has removed the bond pairs again at the next protected access")
    func aPhoneThatHasForgottenTheDevicePairsAnew() throws {
        let (trust, app) = try bonded()
        let alerts = trust.watchAlerts()
        trust.phone.forget(try #require(trust.phone.pairedPeers.first?.identifier))
        try app.visit()
        app.read(Trust.open)
        #expect(try app.expect("value").error == nil)
        #expect(alerts.all.isEmpty)
        app.read(Trust.email)
        let read = try app.expect("value")
        #expect(read.error == nil, "\(String(describing: read.error)), \(alerts.all), \(trust.sensor.person.notices)")
        #expect(trust.phone.pairedPeers.count == 1)
        #expect(trust.sensor.pairedPeers.count == 1)
        // The person is asked at once whether to pair again, instead of being advised to forget the phone.
        #expect(alerts.all.contains { $0.hasPrefix("Sensor: ") && $0.contains("PairAnew") }, "\(alerts.all)")
        let told = trust.sensor.person.notices
        #expect(told.contains { $0.contains("unless you agree to pair again") }, "\(told)")
        #expect(!told.contains { $0.contains("forget it here") })
    }

    @Test("behaviour 6.20: a peer after a factory reset is refused until its bond is removed")
    func aFactoryResetPeerIsRefusedUntilItIsForgotten() throws {
        let (trust, app) = try bonded()
        // The same controller, hence the same identity address; everything else is new, including the identity key.
        trust.sensor.withSystem { $0.stop() }
        let reset = trust.world.addDevice(named: "Sensor", number: 2) { _ in }
        let resetApp = reset.launch("sensor") { _ in TrustPeripheral() }
        trust.world.run(for: .milliseconds(200))
        reset.person.behaves(.agrees(lookingAt: [trust.phone]), after: .seconds(1))
        try app.visit()
        app.read(Trust.email)
        #expect(try app.expect("value").error != nil)
        #expect(resetApp.log.isEmpty)
        #expect(trust.phone.pairedPeers.count == 1)
        trust.world.run(for: .seconds(2))
        trust.phone.forget(try #require(trust.phone.pairedPeers.first?.identifier))
        try app.pair()
    }

    @Test func forgettingADeviceEndsItsLink() throws {
        let (trust, app) = try bonded()
        app.connect()
        try app.expect("connected")
        trust.phone.forget(try #require(trust.phone.pairedPeers.first?.identifier))
        #expect(try app.expect("disconnected").error != nil)
        #expect(trust.phone.pairedPeers.isEmpty)
    }

    /// A device that takes over a bonded peer's address and serves values unencrypted gets no reads (BLESA).
    @Test("AB-A10: an impostor with a bonded peer's address gets no reads")
    func anImpostorWithABondedPeersAddressServesNothing() throws {
        let (trust, app) = try bonded()
        // The device with this address has no key, so to the phone it is a different device.
        trust.sensor.forget(try #require(trust.sensor.pairedPeers.first?.identifier))
        app.connect()
        #expect(try app.expect("failed to connect", "connected").error != nil)
        trust.world.run(for: .seconds(5))
        #expect(app.log.isEmpty)
        #expect(trust.sensorApp.log.isEmpty)
        #expect(trust.phone.withSystem { $0.links.all.isEmpty })
        // The bond is unchanged.
        #expect(trust.phone.pairedPeers.count == 1)
    }

    @Test("behaviour 5.19: a bonded central's app must subscribe on each connection, although the peripheral remembers")
    func aSubscriptionOfABondedCentralOutlastsTheConnection() throws {
        let trust = TrustWorld()
        let app = try trust.visitor()
        app.subscribe(Trust.email)
        #expect(try app.expect("subscribed").error == nil)
        try app.leave()
        #expect(trust.sensorApp.log == ["subscribed", "unsubscribed"])
        trust.sensorApp.forget()
        try app.visit()
        trust.world.run(for: .seconds(1))
        // The peripheral's app gets its subscriber back; the central's app has to subscribe again (behaviour 5.19).
        #expect(trust.sensorApp.log == ["subscribed"])
        trust.sensorApp.notify(Data("you@example.org".utf8))
        trust.world.run(for: .seconds(1))
        #expect(app.log.isEmpty)
        app.subscribe(Trust.email)
        #expect(try app.expect("subscribed").error == nil)
        trust.sensorApp.notify(Data("you@example.org".utf8))
        #expect(try app.expect("value").value == Data("you@example.org".utf8))
    }

    /// A characteristic with signed writes makes the system request the central's signing key to verify them.
    @Test("a central is asked for its signing key if a characteristic accepts signed writes")
    func aCentralIsAskedForItsSigningKeyWhereItIsOfUse() throws {
        let (trust, _) = try bonded { configuration, isPhone in
            if isPhone { configuration.pairing.givenKeys.insert(.signing) }
        }
        #expect(trust.sensor.withSystem { $0.peers.bonds?.bonds.first?.keys.peerSigningKey } != nil)
        #expect(trust.phone.withSystem { $0.peers.bonds?.bonds.first?.keys.peerSigningKey } == nil)
    }

    @Test("behaviour 4.10: the services of a bonded peer are discovered without traffic")
    func theServicesOfABondedPeerAreFoundWithoutTraffic() throws {
        let capture = Locked<[UInt8]>([])
        let (trust, app) = try bonded(phoneCapture: capture)
        /// The discovery requests that the phone sends during the next connection.
        func explorations(reads: Bool = true, for more: [CBUUID] = []) throws -> [ATTPDU] {
            let before = try ATTPDU.sent(in: capture.value).count
            try app.visit()
            for uuid in [Trust.open, Trust.email, Trust.secret, Trust.mixed] + more {
                #expect(app.characteristic(uuid) != nil)
            }
            if reads {
                app.read(Trust.email)
                #expect(try app.expect("value").value == Data("me@example.org".utf8))
            }
            trust.world.run(for: .seconds(1))
            try app.leave()
            return try ATTPDU.sent(in: capture.value).dropFirst(before).filter(\.looksForAttributes)
        }
        // Includes the database hash, which the first connection had to read.
        let first = try explorations().count
        #expect(first > 3)
        for _ in 1...2 {
            let found = try explorations()
            #expect(found.isEmpty, "\(found)")
        }
        // Changes since then are discovered again, once.
        trust.sensor.withSystem { $0.publishDescribed() }
        #expect(try explorations(for: [Trust.described]).count > 3)
        let found = try explorations(for: [Trust.described])
        #expect(found.isEmpty, "\(found)")
        // Nothing is cached for a peer without a bond.
        trust.phone.forget(try #require(trust.phone.pairedPeers.first?.identifier))
        for _ in 1...2 { #expect(try explorations(reads: false).count >= first) }
    }

    @Test("AB-S14: a full store evicts a bond for a new peer and notifies the person")
    func aFullStoreMakesRoomForStrangersAndTellsThePerson() throws {
        let trust = TrustWorld(sensor: DeviceOptions(pairingScreen: .none)) { configuration, isPhone in
            if isPhone { configuration.maximumBonds = 1 }
        }
        let second = trust.world.addDevice(named: "Second", options: DeviceOptions(pairingScreen: .none))
        let app = try trust.pairedApp()
        try app.leave()
        trust.sensor.setPower(false)
        let secondApp = second.launch("second") { _ in TrustPeripheral() }
        trust.world.run(for: .milliseconds(200))
        second.person.behaves(.agrees(lookingAt: []))
        try app.pair()
        #expect(trust.phone.pairedPeers.map(\.name) == ["Second"])
        #expect(trust.phone.person.notices.contains { $0.contains("was forgotten to make room") })
        withExtendedLifetime(secondApp) {}
    }

    @Test("AB-S14: a peer evicted from a full store loses its connection")
    func evictedPeersLoseTheirConnection() throws {
        let trust = TrustWorld(sensor: DeviceOptions(pairingScreen: .none)) { configuration, isPhone in
            if isPhone { configuration.maximumBonds = 1 }
        }
        let second = trust.world.addDevice(named: "Second", options: DeviceOptions(pairingScreen: .none))
        let app = try trust.pairedApp()
        let secondApp = second.launch("second") { _ in TrustPeripheral() }
        trust.world.run(for: .milliseconds(200))
        second.person.behaves(.agrees(lookingAt: []))
        let other = try trust.app()
        try other.find(except: app.identifier)
        try other.open()
        other.read(Trust.email)
        #expect(try other.expect("value").error == nil)
        #expect(try app.expect("disconnected").error != nil)
        #expect(trust.phone.pairedPeers.map(\.name) == ["Second"])
        #expect(trust.phone.withSystem { $0.links.all.map(\.secureLink.linkSecurity.isEncrypted) } == [true])
        withExtendedLifetime(secondApp) {}
    }

    @Test("behaviour 6.13: a peer that does not respond to encryption fails the connection with code 15")
    func aPeerThatDoesNotAnswerToEncryptionIsCode15() throws {
        let (trust, app) = try bonded()
        trust.world.withholdsEncryption()
        app.connect()
        let failure = try app.expect("failed to connect", "connected", "disconnected")
        #expect(failure.what == "failed to connect")
        #expect(failure.error?.core == .encryptionTimedOut)
        trust.world.run(for: .seconds(1))
        #expect(app.log.isEmpty)
        #expect(trust.phone.withSystem { $0.links.all.isEmpty })
        // The bond stays: the peer may respond another time.
        #expect(trust.phone.pairedPeers.count == 1)
    }

    @Test func unencryptedForgottenPeersAreNotConnected() throws {
        let (trust, app) = try bonded()
        trust.world.withholdsEncryption()
        app.connect()
        trust.world.run(for: .seconds(3))
        #expect(app.log.isEmpty)
        #expect(trust.phone.withSystem { $0.links.all.count } == 1)
        // Nor does another app join an unauthenticated link (AB-A10).
        let other = try trust.app()
        try other.connect(known: try #require(app.identifier))
        trust.world.run(for: .seconds(3))
        #expect(other.log.isEmpty)
        #expect(trust.phone.withSystem { $0.links.all.count } == 1)
        trust.phone.forget(try #require(trust.phone.pairedPeers.first?.identifier))
        #expect(try app.expect("failed to connect", "connected").what == "failed to connect")
        #expect(try other.expect("failed to connect", "connected").what == "failed to connect")
        trust.world.run(for: .seconds(60))
        #expect((app.log + other.log).allSatisfy { $0.what != "connected" })
        #expect(trust.phone.pairedPeers.isEmpty)
    }

    @Test("behaviour 6.13: if the store is full of authenticated bonds, the app gets a specific error")
    func withAStoreFullOfTrustedPeersThereIsAnErrorOfItsOwn() throws {
        let trust = TrustWorld { configuration, isPhone in
            if isPhone { configuration.maximumBonds = 1 }
        }
        let second = trust.world.addDevice(named: "Second")
        let app = try trust.pairedApp()
        try app.leave()
        trust.sensor.setPower(false)
        let secondApp = second.launch("second") { _ in TrustPeripheral() }
        trust.world.run(for: .milliseconds(200))
        second.person.behaves(.agrees(lookingAt: [trust.phone]))
        try app.visit()
        app.read(Trust.email)
        #expect(try app.expect("value").error?.core == .tooManyLEPairedDevices)
        #expect(trust.phone.person.notices.contains { $0.contains("the maximum number of paired devices") })
        #expect(trust.phone.pairedPeers.map(\.name) == ["Sensor"])
        withExtendedLifetime(secondApp) {}
    }
}

extension ATTPDU {
    /// The ATT PDUs that a host sent, from a btsnoop file of its HCI packets.
    fileprivate static func sent(in capture: [UInt8]) throws -> [ATTPDU] {
        var found: [ATTPDU] = []
        for record in try CaptureReader.records(of: capture) {
            guard case .hci(let packet, .hostToController) = record.content, packet.kind == .acl else { continue }
            // The L2CAP header: two octets of length, and the fixed channel (Core Vol 3 Part A 3.1, 2.1).
            let payload = try ACLPacket(reading: packet.bytes).payload
            guard payload.count > 4, payload.dropFirst(2).prefix(2).elementsEqual([4, 0]) else { continue }
            found.append(try ATTPDU(reading: PacketBuffer(Array(payload.dropFirst(4)))))
        }
        return found
    }

    /// Whether the PDU discovers attributes: services, inclusions, characteristics, descriptors (Core Vol 3 Part G 4.4
    /// to 4.7).
    fileprivate var looksForAttributes: Bool {
        switch self {
        case .readByGroupTypeRequest, .findByTypeValueRequest, .findInformationRequest: true
        case .readByTypeRequest(let request): [0x2802, 0x2803].contains(request.type)
        default: false
        }
    }
}
