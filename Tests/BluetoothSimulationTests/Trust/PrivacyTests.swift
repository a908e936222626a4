import CoreBluetooth
import EventLoops
import Foundation
import Security
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// Changing addresses, and the peers that resolve them.
@Suite struct PrivacyTests {
    private let short = DeviceOptions(addressLifetime: .seconds(10))
    private let fixed = DeviceOptions(addressLifetime: nil)

    @Test("behaviours 6.17, 14.24: by default a system changes its address every quarter of an hour")
    func anAddressLastsAQuarterOfAnHourByDefault() throws {
        let configuration = SystemConfiguration()
        #expect(configuration.address == .resolvablePrivate)
        #expect(configuration.privacyInterval == .seconds(900))
        // A peer without the key sees a new device from then on, and not before.
        let trust = TrustWorld()
        let app = try trust.app()
        var seen = [try app.find()]
        for _ in 1...3 {
            trust.world.run(for: .seconds(850))
            #expect(try app.find() == seen.last)
            trust.world.run(for: .seconds(50))
            seen.append(try app.find())
        }
        #expect(Set(seen).count == 4)
    }

    @Test("behaviour 6.18: an unbonded peer with a new address is a new peripheral")
    func aStrangerWithANewAddressIsANewPeripheral() throws {
        let trust = TrustWorld(sensor: short)
        let app = try trust.app()
        let first = try app.find()
        trust.world.run(for: .seconds(1))
        #expect(try app.find() == first)
        trust.world.run(for: .seconds(15))
        #expect(try app.find() != first)
    }

    @Test("behaviour 6.18: a bonded peer keeps its identifier and needs no code")
    func aBondedPeerKeepsItsIdentifierAndNeedsNoCode() throws {
        let trust = TrustWorld(phone: short, sensor: short)
        let app = try trust.app()
        let first = try app.find()
        try app.open()
        app.read(Trust.email)
        #expect(try app.expect("value").error == nil)
        let central = trust.sensorApp.centrals.withLock { $0.first }
        #expect(trust.phone.pairedPeers.first?.identifier == first)
        try app.leave()
        let alerts = trust.watchAlerts()
        for _ in 1...3 {
            trust.world.run(for: .seconds(25))
            #expect(try app.find() == first)
            try app.open()
            app.read(Trust.email)
            #expect(try app.expect("value").error == nil)
            try app.leave()
        }
        #expect(alerts.all.isEmpty)
        // Behaviour 7.49: to the peripheral it is still the same central.
        #expect(Set(trust.sensorApp.centrals.withLock { $0 }) == Set([central].compactMap { $0 }))
    }

    @Test("behaviour 7.49: an unbonded central with a new address is a new central")
    func aStrangeCentralWithANewAddressIsANewCentral() throws {
        let trust = TrustWorld(phone: short)
        let app = try trust.app()
        for _ in 1...2 {
            try app.visit()
            app.read(Trust.open)
            #expect(try app.expect("value").error == nil)
            try app.leave()
            trust.world.run(for: .seconds(15))
        }
        let centrals = trust.sensorApp.centrals.withLock { $0 }
        #expect(centrals.count == 2)
        #expect(Set(centrals).count == 2)
    }

    @Test("behaviour 6.19: a peer with a fixed address keeps its identifier on this host only")
    func aPeerWithOneAddressKeepsItsIdentifierOnThisHost() throws {
        let trust = TrustWorld(sensor: fixed)
        let app = try trust.app()
        let first = try app.find()
        trust.world.run(for: .seconds(2_000))
        // Another app on the host, later.
        #expect(try trust.app().find() == first)
        let other = trust.world.addDevice(named: "Tablet")
        #expect(try trust.app(on: other).find() != first)
    }

    @Test("behaviour 11.5: a bonded peer can be connected by its identifier without a scan")
    func aBondedPeerIsConnectedToByItsIdentifierWithoutAScan() throws {
        let trust = TrustWorld(phone: short, sensor: short)
        let app = try trust.pairedApp()
        let identifier = try #require(app.identifier)
        try app.leave()
        trust.sensor.setPower(false)
        trust.world.run(for: .seconds(60))
        let later = try trust.app()
        try later.connect(known: identifier)
        trust.world.run(for: .seconds(30))
        trust.sensor.setPower(true)
        try later.expect("connected")
    }
}
