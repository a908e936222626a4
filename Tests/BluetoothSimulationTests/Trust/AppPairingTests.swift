import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import GATT
import Security
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Pairing as apps and persons experience it, with two whole systems and the radio between them.
@Suite struct AppPairingTests {
    private static let email = Data("me@example.org".utf8)

    @Test("behaviour 6.1: a refused read pairs and is repeated, and the app sees only the result")
    func aRefusedReadPairsAndTheAppOnlySeesTheEnd() throws {
        let trust = TrustWorld()
        let alerts = trust.watchAlerts()
        let app = try trust.visitor()
        app.read(Trust.email)
        let read = try app.expect("value")
        #expect(read.error == nil)
        #expect(read.value == Self.email)
        // The first request never reached the app on the sensor (behaviour 7.38).
        #expect(trust.sensorApp.log == ["read"])
        #expect(app.log.isEmpty)
        #expect(alerts.all.count == 2)
        #expect(trust.phone.pairedPeers.map(\.name) == ["Sensor"])
        #expect(trust.sensor.pairedPeers.count == 1)
    }

    @Test("behaviour 6.4: the code is shown by the central's alert and typed into the peripheral's")
    func theCodeIsOnTheCentralsAlertAndTypedIntoThePeripherals() throws {
        let trust = TrustWorld()
        let alerts = trust.watchAlerts()
        let app = try trust.pairedApp()
        let all = alerts.all.sorted()
        #expect(all.count == 2 && all[0].hasPrefix("Phone: showsCode(\"") && all[1] == "Sensor: asksForCode", "\(all)")
        // The alerts disappear from both screens.
        trust.world.run(for: .seconds(1))
        #expect(trust.phone.person.alerts.isEmpty)
        #expect(trust.sensor.person.alerts.isEmpty)
        #expect(trust.phone.withSystem { $0.peers.bondedPeers.first?.isAuthenticated } == true)
        // From now on, the peripheral and the central trust each other.
        app.subscribe(Trust.email)
        #expect(try app.expect("subscribed", "not subscribed").error == nil)
        trust.sensorApp.notify(Data("you@example.org".utf8))
        #expect(try app.expect("value").value == Data("you@example.org".utf8))
    }

    /// Behaviour 6.16: both the read and the subscription of an unpaired central start pairing. Behaviour 6.3 lists the
    /// other triggers.
    @Test(
        "behaviours 6.3, 6.16: any access to a protected attribute starts pairing",
        arguments: ["read", "subscribe", "write", "indicate", "write mixed"]
    )
    func protectedAttributesStartPairing(trigger: String) throws {
        let trust = TrustWorld()
        let app = try trust.visitor()
        for _ in 1...2 {
            let error: (any Error)?
            switch trigger {
            case "read":
                app.read(Trust.email)
                error = try app.expect("value").error
            case "subscribe":
                app.subscribe(Trust.email)
                error = try app.expect("subscribed", "not subscribed").error
            case "indicate":
                app.subscribe(Trust.secret)
                error = try app.expect("subscribed", "not subscribed").error
            case "write":
                app.write(Trust.secret, Data([1]))
                error = try app.expect("written").error
            default:
                app.write(Trust.mixed, Data([1]))
                error = try app.expect("written").error
            }
            #expect(error == nil)
            // The second time, the central is bonded.
            #expect(trust.phone.pairedPeers.count == 1)
        }
    }

    @Test("behaviour 6.3: a protected descriptor starts pairing", arguments: [false, true])
    func aProtectedDescriptorStartsPairing(writes: Bool) throws {
        let trust = TrustWorld()
        trust.sensor.withSystem { $0.publishDescribed() }
        let app = try trust.visitor()
        // Discovering it requires no trust (behaviour 6.2).
        try app.describe(Trust.described)
        app.read(Trust.described)
        #expect(try app.expect("value").error == nil)
        #expect(trust.phone.pairedPeers.isEmpty)
        for _ in 1...2 {
            if writes {
                // The descriptor is not writable. The request was made after pairing, and not before.
                app.writeDescription(of: Trust.described, Data("b".utf8))
                let code = try app.expect("description written").error?.att
                #expect(code != nil)
                #expect(code != .insufficientAuthentication)
                #expect(code != .insufficientEncryption)
            } else {
                app.readDescription(of: Trust.described)
                let read = try app.expect("description")
                #expect(read.error == nil)
                #expect(read.value == Data("a name".utf8))
            }
            #expect(trust.phone.pairedPeers.count == 1)
        }
    }

    @Test("behaviour 6.3: declining the pairing refuses a protected descriptor", arguments: [false, true])
    func decliningRefusesProtectedDescriptors(writes: Bool) throws {
        let trust = TrustWorld(people: .decline)
        trust.sensor.withSystem { $0.publishDescribed() }
        let app = try trust.visitor()
        try app.describe(Trust.described)
        if writes {
            app.writeDescription(of: Trust.described, Data("b".utf8))
        } else {
            app.readDescription(of: Trust.described)
        }
        let heard = try app.expect("description", "description written")
        #expect(heard.error?.att == .insufficientAuthentication)
        #expect(heard.value == nil)
        #expect(trust.phone.pairedPeers.isEmpty)
    }

    @Test("behaviour 6.2: discovery and unprotected values require no trust")
    func discoveryAndWhatIsForEverybodyNeedNoTrust() throws {
        let trust = TrustWorld(people: .decline)
        let app = try trust.visitor()
        app.read(Trust.open)
        #expect(try app.expect("value").error == nil)
        app.read(Trust.mixed)
        #expect(try app.expect("value").error == nil)
        #expect(trust.phone.pairedPeers.isEmpty)
    }

    @Test("behaviour 6.15: protection applies only to the attributes that the app protects")
    func protectionIsForWhatTheAppNamesAlone() throws {
        let trust = TrustWorld(people: .decline)
        let app = try trust.visitor()
        // Reads and notifications are open to all; only writes require trust.
        app.subscribe(Trust.mixed)
        #expect(try app.expect("subscribed", "not subscribed").error == nil)
        app.write(Trust.mixed, Data([1]))
        #expect(try app.expect("written").error?.att == .insufficientAuthentication)
        app.subscribe(Trust.secret)
        #expect(try app.expect("subscribed", "not subscribed").error?.att == .insufficientAuthentication)
        // Behaviour 7.38: none of this reached the app on the sensor.
        #expect(trust.sensorApp.log == ["subscribed"])
    }

    @Test("behaviour 6.5: if one side declines the pairing, the app gets the refusal", arguments: [true, false])
    func decliningReportsTheRefusal(isPhone: Bool) throws {
        let trust = TrustWorld()
        (isPhone ? trust.phone : trust.sensor).person.behaves(.declines, after: .seconds(1))
        let app = try trust.visitor()
        app.read(Trust.email)
        let read = try app.expect("value", within: .seconds(10))
        #expect(read.error?.att == .insufficientAuthentication)
        #expect(trust.sensorApp.log.isEmpty)
        #expect(trust.phone.pairedPeers.isEmpty)
        #expect(trust.sensor.pairedPeers.isEmpty)
        // The link stays up for everything open.
        app.read(Trust.open)
        #expect(try app.expect("value").error == nil)
    }

    @Test(
        "behaviours 6.5, 6.6: no reaction within thirty seconds gives insufficient encryption",
        arguments: [true, false]
    )
    func unansweredPromptsGiveInsufficientEncryption(isPhone: Bool) throws {
        let trust = TrustWorld(people: .ignore)
        if !isPhone { trust.phone.person.behaves(.agrees(lookingAt: [trust.sensor])) }
        let app = try trust.visitor()
        app.read(Trust.email)
        let began = trust.world.now
        let read = try app.expect("value")
        #expect(read.error?.att == .insufficientEncryption)
        let waited = trust.world.now - began
        #expect(waited >= .seconds(29) && waited <= .seconds(32), "\(waited)")
        // The sensor's timer started slightly later.
        trust.world.run(for: .seconds(1))
        #expect(trust.phone.person.alerts.isEmpty)
        #expect(trust.sensor.person.alerts.isEmpty)
        // No further pairing starts on that link.
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(2)).error?.att == .insufficientEncryption)
        // Pairing works on the next link, once both persons respond and the waiting time is over.
        trust.seat(.agree)
        try app.leave()
        trust.world.run(for: .seconds(5))
        try app.pair()
    }

    @Test("behaviour 6.5: a wrong code is reported to the app as a refusal")
    func aWrongCodeIsARefusal() throws {
        let trust = TrustWorld()
        trust.sensor.person.behaves(.scripted { $0.content == .asksForCode ? .type("000000") : .wait })
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(10)).error?.att == .insufficientAuthentication)
        #expect(trust.phone.pairedPeers.isEmpty)
        #expect(trust.sensor.pairedPeers.isEmpty)
    }

    @Test(
        "a failed pairing is reported with the peer's name or address, and with advice",
        arguments: [true, false]
    )
    func aPairingThatCameToNothingIsToldWithAnAdvice(isDeclined: Bool) throws {
        let trust = TrustWorld(people: .ignore)
        if isDeclined { trust.phone.person.behaves(.declines, after: .seconds(1)) }
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value").error != nil)
        trust.world.run(for: .seconds(40))
        let told = (trust.phone.person.notices + trust.sensor.person.notices).filter { $0.contains(" failed: ") }
        #expect(!told.isEmpty)
        for notice in told {
            let sentence = #/pairing with ("Sensor"|"Phone"|([0-9A-F]{2}:){5}[0-9A-F]{2}) failed: [^;]+; .+/#
            #expect(try sentence.wholeMatch(in: notice) != nil, "\(notice)")
        }
    }
}

extension BluetoothSystem {
    /// Publishes an open value with a descriptor that only trusted peers may read and write.
    func publishDescribed() {
        let descriptor = DescriptorDefinition(
            GATTUUID.userDescription,
            permissions: AttributePermissions(read: .encrypted, write: .encrypted),
            source: .fixed(PacketBuffer(Array("a name".utf8)))
        )
        guard let uuid = BluetoothUUID(Trust.described.uuidString),
            let serviceUUID = BluetoothUUID(Trust.service.uuidString)
        else { return }
        let characteristic = CharacteristicDefinition(
            uuid,
            properties: .read,
            permissions: .readable,
            source: .fixed(PacketBuffer([1])),
            descriptors: [descriptor]
        )
        let service = ServiceDefinition(serviceUUID, characteristics: [characteristic])
        #expect(throws: Never.self) { try attributes.server.database.add(service) }
    }
}
