import BluetoothSimulation
import CoreBluetooth
import Foundation
import LinkLayer
import ServiceMessages
import TestBasics
import Testing

/// Two devices with an app each, in virtual time: one publishes channels, and the other opens them. The streams run in
/// the run loop of the test by default.
final class ChannelWorld {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let station: SimulatedDevice
    let publisher: ChannelPublisher
    let opener: ChannelOpeningApp
    let capture = Recording()

    init(seed: UInt64 = 1, isScheduled: Bool = true, runLoop: RunLoop = .current, lossRate: Double = 0) {
        let runLoop = isScheduled ? runLoop : nil
        var air = Radio.Configuration()
        air.lossRate = lossRate
        world = SimulatedWorld(seed: seed, radio: air)
        phone = world.addDevice(named: "Phone", capture: capture.add)
        station = world.addDevice(named: "Station", at: Position(x: 1))
        publisher = station.launch("publisher") { _ in ChannelPublisher(in: runLoop) }
        opener = phone.launch("opener") { _ in ChannelOpeningApp(in: runLoop) }
    }

    /// Advances time until `condition` holds.
    @discardableResult
    func run(_ duration: Duration = .seconds(20), until condition: () -> Bool = { false }) -> Bool {
        let end = world.now + duration
        while !condition() {
            guard world.now < end else { return false }
            world.run(for: .milliseconds(5))
        }
        return true
    }

    /// Connects, and publishes channels on one side.
    @discardableResult
    func connect(needsEncryption: Bool = false, count: Int = 1) throws -> [CBL2CAPPSM] {
        run { publisher.log.contains("state 5") }
        for _ in 0..<count { publisher.manager.publishL2CAPChannel(withEncryption: needsEncryption) }
        let isThere = run { opener.isConnected && publisher.psms.count == count }
        try #require(isThere, "\(opener.log) \(publisher.log)")
        return publisher.psms
    }

    /// Connects, and opens a channel.
    func open() throws -> (opener: ChannelUser, publisher: ChannelUser) {
        opener.open(try connect()[0])
        run { !opener.users.isEmpty && !publisher.users.isEmpty }
        return (try #require(opener.users.first), try #require(publisher.users.first))
    }

    static func noise(_ count: Int, seed: UInt64) -> Data {
        var state = seed
        return Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
        )
    }
}
