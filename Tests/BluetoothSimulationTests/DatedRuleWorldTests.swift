import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation

/// The rules that differ between versions of iOS, and need a device with a person, bonds or a calendar to show.
@Suite struct DatedRuleWorldTests {
    /// A phone of a version and a sensor that are bonded, and not connected.
    private func bonded(_ version: SystemVersion) throws -> (TrustWorld, TrustCentral) {
        let trust = TrustWorld { configuration, isPhone in
            if isPhone { configuration.version = version }
        }
        let app = try trust.pairedApp()
        try app.leave()
        trust.sensorApp.forget()
        return (trust, app)
    }

    @Test(
        "behaviour 1.17: from iOS 11 on, a switch-off in Control Centre ends with a restart, and at 5:00",
        arguments: DatedRule.temporarySwitchOff.neighbours
    )
    func temporarySwitchOff(version: SystemVersion) {
        for restarts in [false, true] {
            // It begins at midnight.
            let world = SimulatedWorld(seed: 1)
            var options = DeviceOptions()
            options.version = version
            let phone = world.addDevice(named: "Phone", options: options)
            func isOn() -> Bool { phone.withSystem { $0.controllers.state } == .poweredOn }
            world.run(for: .seconds(1))
            phone.setPower(false, by: .controlCentre)
            world.run(for: .seconds(5 * 3_600 - 2))
            #expect(!isOn())
            if restarts { phone.restart() }
            world.run(for: .seconds(2))
            #expect(isOn() == version.has(.temporarySwitchOff))
        }
    }

    @Test(
        "behaviour 6.12: from iOS 13.4 on, a peer that has lost its keys is refused; before, it pairs again",
        arguments: DatedRule.lostBondsRefused.neighbours
    )
    func lostBondsRefused(version: SystemVersion) throws {
        let (trust, app) = try bonded(version)
        trust.sensor.forget(try #require(trust.sensor.pairedPeers.first?.identifier))
        app.connect()
        let outcome = try app.expect("failed to connect", "connected")
        #expect((outcome.error?.core == .peerRemovedPairingInformation) == version.has(.lostBondsRefused))
        #expect((outcome.what == "connected") == !version.has(.lostBondsRefused))
        trust.world.run(for: .seconds(5))
        #expect(trust.sensor.pairedPeers.isEmpty == version.has(.lostBondsRefused))
    }

    @Test(
        "behaviour 6.13: from iOS 13.4 on, encryption that does not start has code 15",
        arguments: DatedRule.encryptionTimeoutCode.neighbours
    )
    func encryptionTimeoutCode(version: SystemVersion) throws {
        let (trust, app) = try bonded(version)
        trust.world.withholdsEncryption()
        app.connect()
        let failure = try app.expect("failed to connect", "connected", "disconnected")
        #expect((failure.error?.core == .encryptionTimedOut) == version.has(.encryptionTimeoutCode))
        #expect(failure.error?.core != nil)
    }

    @Test(
        "behaviour 6.13: from iOS 14 on, too many paired devices have code 16",
        arguments: DatedRule.pairedDeviceLimitCode.neighbours
    )
    func pairedDeviceLimitCode(version: SystemVersion) throws {
        let trust = TrustWorld { configuration, isPhone in
            if isPhone { (configuration.version, configuration.maximumBonds) = (version, 1) }
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
        let error = try app.expect("value").error
        #expect((error?.core == .tooManyLEPairedDevices) == version.has(.pairedDeviceLimitCode))
        #expect(error != nil)
        withExtendedLifetime(secondApp) {}
    }

    @Test(
        "behaviour 17.1: from iOS 27 on, distances can be measured",
        arguments: DatedRule.channelSounding.neighbours
    )
    func channelSounding(version: SystemVersion) {
        let world = SimulatedWorld(seed: 1)
        var options = DeviceOptions(channelSounding: .supported)
        options.version = version
        let phone = world.addDevice(named: "Phone", options: options)
        world.run(for: .seconds(1))
        let info = phone.withSystem { $0.apps.info(for: AppIdentity(name: "test")) }
        #expect(info.hasChannelSounding == version.has(.channelSounding))
    }
}
