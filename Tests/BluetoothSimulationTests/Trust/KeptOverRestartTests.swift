import CoreBluetooth
import EventLoops
import Foundation
import GATT
import Security
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// A device's data about its peers, across a restart.
@Suite struct KeptOverRestartTests {
    private func restart(_ trust: TrustWorld) throws -> TrustCentral {
        trust.phone.restart()
        trust.world.run(for: .seconds(3))
        return try trust.app()
    }

    @Test("an accessory has the same address after restarts, and after a reset to factory settings")
    func anAccessoryKeepsItsAddress() throws {
        let trust = TrustWorld(sensor: .accessory)
        let first = try #require(trust.sensor.withSystem { $0.fixedAddress })
        trust.sensor.restart()
        trust.world.run(for: .seconds(3))
        #expect(trust.sensor.withSystem { $0.fixedAddress } == first)
        trust.sensor.restart()
        trust.world.run(for: .seconds(3))
        #expect(trust.sensor.withSystem { $0.fixedAddress } == first)
        trust.sensor.resetToFactorySettings()
        trust.world.run(for: .seconds(3))
        #expect(trust.sensor.withSystem { $0.fixedAddress } == first)
    }

    @Test("behaviours 2.25, 6.19, 11.3: an unbonded peer keeps its identifier and its name across a restart")
    func aStrangerKeepsItsIdentifierAndItsName() throws {
        let trust = TrustWorld()
        let app = try trust.visitor()
        trust.world.run(for: .seconds(3))
        let identifier = try #require(app.identifier)
        #expect(trust.phone.pairedPeers.isEmpty)
        for _ in 1...2 {
            let again = try restart(trust)
            #expect(trust.phone.withSystem { $0.peers.recall(identifier)?.info.name } == "Sensor")
            try again.connect(known: identifier)
            try again.expect("connected")
            try again.leave()
            #expect(try again.find() == identifier)
        }
    }

    @Test("behaviours 2.25, 4.10, 6.18: the keys, identifier, name and table of a bonded peer survive a restart")
    func bondsSurviveARestart() throws {
        let trust = TrustWorld()
        let app = try trust.pairedApp()
        let identifier = try #require(app.identifier)
        try app.leave()
        try app.connect(known: identifier)
        try app.open()
        try app.leave()
        trust.world.run(for: .seconds(3))
        let cache = try #require(trust.phone.withSystem { $0.peers.bonds?.bonds.first?.cache })
        #expect(cache.services?.isEmpty == false)
        let again = try restart(trust)
        let alerts = trust.watchAlerts()
        #expect(trust.phone.withSystem { $0.peers.bonds?.bonds.first?.cache } == cache)
        #expect(trust.phone.pairedPeers.map(\.identifier) == [identifier])
        #expect(trust.phone.pairedPeers.map(\.name) == ["Sensor"])
        try again.connect(known: identifier)
        try again.open()
        again.read(Trust.email)
        #expect(try again.expect("value").error == nil)
        #expect(alerts.all.isEmpty)
    }

    @Test("behaviours 2.25, 6.18: the name of a bonded peer is stored in its bond only")
    func theNameOfABondedPeerIsKeptByItsBond() throws {
        let trust = TrustWorld()
        let app = try trust.visitor()
        trust.world.run(for: .seconds(3))
        let identifier = try #require(app.identifier)
        #expect(trust.phone.withSystem { $0.peers.nameRecord.name(of: identifier) } == "Sensor")
        app.read(Trust.email)
        #expect(try app.expect("value").error == nil)
        try app.leave()
        try app.connect(known: identifier)
        try app.open()
        trust.world.run(for: .seconds(3))
        #expect(trust.phone.withSystem { $0.peers.nameRecord.name(of: identifier) } == nil)
        #expect(trust.phone.pairedPeers.map(\.name) == ["Sensor"])
    }
}
