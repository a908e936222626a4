import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import SMP
import Security
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// How two devices pair, depending on their input and output capabilities.
@Suite struct AssociationTests {
    /// The phone has a display and a keyboard, like Apple's (behaviour 6.7). The arguments are the alerts on the phone
    /// and on the sensor.
    @Test(
        "behaviour 6.8: the peer's screen determines the person's prompt",
        arguments: [
            (DeviceOptions.PairingScreen.none, "asksWhetherToPair", ""),
            (.display, "asksForCode", "showsCode"),
            (.keyboard, "showsCode", "asksForCode"),
            (.displayAndButtons, "comparesCode", "comparesCode"),
        ]
    )
    func thePeersScreenDecides(screen: DeviceOptions.PairingScreen, onPhone: String, onSensor: String) throws {
        let trust = TrustWorld(sensor: DeviceOptions(pairingScreen: screen)) { configuration, _ in
            configuration.demandsAuthenticatedCentrals = false
        }
        if screen == .none { trust.sensor.person.behaves(.agrees(lookingAt: [])) }
        let alerts = trust.watchAlerts()
        let app = try trust.app()
        try app.pair()
        #expect(alerts.all.contains { $0.hasPrefix("Phone: \(onPhone)") }, "\(alerts.all)")
        #expect(onSensor.isEmpty || alerts.all.contains { $0.hasPrefix("Sensor: \(onSensor)") }, "\(alerts.all)")
        #expect(trust.phone.withSystem { $0.peers.bondedPeers.first?.isAuthenticated } == (screen != .none))
    }

    @Test(
        "behaviour 6.21: the pairing alert is shown for a foreground app, and as a notification for a background one"
    )
    func alertsOfTheBackgroundAreNotifications() throws {
        for isInFront in [true, false] {
            let trust = TrustWorld()
            let notified = Locked<[Bool]>([])
            trust.phone.person.watchAlerts { alert in notified.change { $0.append(alert.isNotification) } }
            let (app, process) = trust.phone.launch("phone") { (TrustCentral(trust.world), $0) }
            try app.expect("state 5")
            try app.visit()
            if !isInFront { process.leave() }
            app.read(Trust.email)
            #expect(try app.expect("value").error == nil)
            #expect(notified.value == [!isInFront])
        }
    }

    @Test("AB-S17: two keyboards ask for digits that the persons make up, and a display is not asked for them")
    func twoKeyboardsAskForTheSameCode() throws {
        for (screen, kinds) in [
            (DeviceOptions.PairingScreen.keyboard, ["asksForCodeOnBoth", "asksForCodeOnBoth"]),
            (.display, ["asksForCode", "showsCode"]),
        ] {
            let trust = TrustWorld(
                phone: DeviceOptions(pairingScreen: .keyboard),
                sensor: DeviceOptions(pairingScreen: screen)
            )
            let alerts = trust.watchAlerts()
            let app = try trust.app()
            try app.pair()
            #expect(alerts.all.contains { $0.hasPrefix("Phone: \(kinds[0])") }, "\(alerts.all)")
            #expect(alerts.all.contains { $0.hasPrefix("Sensor: \(kinds[1])") }, "\(alerts.all)")
            #expect(alerts.all.count == 2)
            #expect(trust.phone.withSystem { $0.peers.bondedPeers.first?.isAuthenticated } == true)
        }
    }

    @Test("behaviour 6.8, AB-A14: the person is asked even without a code")
    func evenWithoutACodeThePersonIsAsked() throws {
        let trust = TrustWorld(sensor: DeviceOptions(pairingScreen: .none))
        trust.phone.person.behaves(.declines)
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(10)).error?.att == .insufficientAuthentication)
        #expect(trust.phone.pairedPeers.isEmpty)
    }

    @Test("AB-A14: with no one to ask, pairing is refused", arguments: [true, false])
    func withNobodyToAskTheAnswerIsNo(isPhone: Bool) throws {
        let trust = TrustWorld()
        (isPhone ? trust.phone : trust.sensor).withSystem { $0.peers.deviceSecurity.prompter = nil }
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(10)).error?.att == .insufficientAuthentication)
        #expect(trust.phone.pairedPeers.isEmpty)
        #expect(trust.sensor.pairedPeers.isEmpty)
    }

    /// A failed pairing makes many peers disconnect, so a pairing that cannot succeed is not started.
    @Test func impossiblePairingsKeepTheConnection() throws {
        let trust = TrustWorld()
        trust.phone.withSystem { $0.peers.deviceSecurity.prompter = nil }
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(10)).error?.att == .insufficientAuthentication)
        trust.world.run(for: .seconds(5))
        // The sensor received no pairing request.
        #expect(app.log.isEmpty)
        #expect(trust.sensor.person.notices.isEmpty)
        app.read(Trust.open)
        #expect(try app.expect("value").error == nil)
    }

    @Test("AB-A14: a simulated person declines by default")
    func aPersonWhoWasToldNothingDeclines() throws {
        let world = SimulatedWorld(seed: 1)
        let (phone, sensor) = (world.addDevice(named: "Phone"), world.addDevice(named: "Sensor"))
        let peripheral = sensor.launch("sensor") { _ in TrustPeripheral() }
        let app = phone.launch("phone") { _ in TrustCentral(world) }
        try app.expect("state 5")
        try app.visit()
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(10)).error?.att == .insufficientAuthentication)
        #expect(peripheral.log.isEmpty)
    }

    @Test("behaviour 6.9: a peripheral with a screen requires pairing with a code")
    func aPeripheralWithAScreenIsNotContentWithoutACode() throws {
        // A central with neither display nor keyboard, whose pairing offers no MITM protection.
        let trust = TrustWorld(phone: DeviceOptions(pairingScreen: .none))
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value", within: .seconds(40)).error?.att == .insufficientAuthentication)
        #expect(trust.sensorApp.log.isEmpty)
    }

    @Test("behaviour 6.7: the central offers keyboard and display, bonding, and Secure Connections")
    func centralCapabilities() throws {
        let trust = TrustWorld()
        let configuration = trust.phone.withSystem { $0.peers.deviceSecurity.configuration }
        #expect(configuration.ioCapability == .keyboardDisplay)
        #expect(configuration.bonds)
        #expect(configuration.maximumKeySize == 16)
        #expect(configuration.legacy != .only)
        let app = try trust.app()
        try app.pair()
        let level = trust.phone.withSystem { $0.peers.bonds?.bonds.first?.keys.level }
        #expect(level?.isSecureConnections == true)
        #expect(level?.keySize == 16)
        #expect(level?.isAuthenticated == true)
    }

    @Test("behaviour 6.7: a peer without Secure Connections pairs by legacy pairing")
    func aPeerWithoutSecureConnectionsPairsInTheOldWay() throws {
        let trust = TrustWorld { configuration, isPhone in
            if !isPhone { configuration.pairing.legacy = .only }
        }
        let app = try trust.pairedApp()
        let level = trust.phone.withSystem { $0.peers.bonds?.bonds.first?.keys.level }
        #expect(level?.isSecureConnections == false)
        #expect(level?.isAuthenticated == true)
        // The bond is used on the next connection.
        try app.leave()
        try app.pair()
    }

    @Test("behaviour 6.22: the person is notified of a key that is too short")
    func aKeyThatIsTooShortIsToldOf() throws {
        let trust = TrustWorld { configuration, isPhone in
            configuration.pairing.minimumKeySize = 7
            if !isPhone { configuration.pairing.maximumKeySize = 7 }
        }
        let app = try trust.visitor()
        app.read(Trust.email)
        #expect(try app.expect("value").error?.att == .insufficientEncryptionKeySize)
        #expect(trust.sensorApp.log.isEmpty)
    }
}
