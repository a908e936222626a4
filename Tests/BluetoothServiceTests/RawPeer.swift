import AccessStandIns
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import HCIHost
import L2CAP
import ServiceMessages
import Testing

@testable import BluetoothService

/// A peer that speaks L2CAP as the test dictates: it records what it receives on the signalling channel and the dynamic
/// channels, and answers nothing by itself.
final class RawPeer {
    let air = RadioWorld()
    let system: BluetoothSystem
    /// The app under test.
    let app: TestManager
    private let device: GenericAccess
    private(set) var link: AccessLink?
    /// The PDUs received, with their channels.
    private(set) var received: [(channel: UInt16, octets: [UInt8])] = []
    /// Whether the test replaces the peer's host on these channels. If false, that host answers as usual.
    var isTampered = true

    init(_ role: ManagerRole) {
        system = air.system("System")
        app = air.world.manager(role, on: system)
        device = air.bareDevice()
        device.onLink = { [weak self] in self?.watch($0) }
    }

    private func watch(_ link: AccessLink) {
        self.link = link
        link.openAttributes(mtu: 185, server: GATTServer(database: GATTDatabase()))
        // L2CAP starts receiving in the loop's next task; this runs after it.
        air.world.loop.execute { [weak self] in self?.tamper(link) }
    }

    private func tamper(_ link: AccessLink) {
        let original = link.connection.onReceive
        link.connection.onReceive = { [weak self] fragment, isStart in
            let channel = fragment.count >= 4 ? UInt16(fragment[2]) | UInt16(fragment[3]) << 8 : 0
            guard let self, isTampered, isStart, channel == 5 || channel >= 0x40 else {
                original?(fragment, isStart)
                return
            }
            received.append((channel, Array(fragment.suffix(after: 4))))
        }
    }

    /// The app publishes a channel, and the peer connects.
    func connectToPublisher(needsEncryption: Bool = false) throws -> UInt16 {
        try app.publish()
        let psm = try app.ask(.peripheral(.publishChannel(needsEncryption: needsEncryption)), "published") { event in
            if case .peripheral(.channelPublished(let psm, nil, _)) = event { psm } else { nil }
        }
        let central = Central(device)
        central.generalConnect(pick: { _ in true }) { _ in }
        try #require(air.world.run { link != nil })
        air.world.run(.seconds(1))
        return psm
    }

    /// The peer advertises, and the app connects.
    func connectToPeer() throws -> UUID {
        let advertiser = Peripheral(device)
        let data = AdvertisingData([.services([Example.service], width: .bits16, isComplete: true)])
        advertiser.enter(Peripheral.Mode(.general, .undirected, data: data))
        let peer = try app.find().identifier
        try app.connect(peer)
        air.world.run(.seconds(1))
        return peer
    }

    /// Sends a command on the signalling channel, and returns what the system sends there in response.
    @discardableResult
    func signal(_ code: UInt8, _ identifier: UInt8, _ fields: [UInt8]) -> [[UInt8]] {
        send([code, identifier] + le(fields.count) + fields, on: 5)
        return takeSignals()
    }

    func send(_ octets: [UInt8], on channel: UInt16) {
        link?.l2cap.send(PacketBuffer(copying: octets), on: ChannelIdentifier(rawValue: channel))
        air.world.run(.milliseconds(500))
    }

    func takeSignals() -> [[UInt8]] {
        defer { received.removeAll { $0.channel == 5 } }
        return received.filter { $0.channel == 5 }.map(\.octets)
    }

    func takeData(_ channel: UInt16 = 0x41) -> [[UInt8]] {
        defer { received.removeAll { $0.channel == channel } }
        return received.filter { $0.channel == channel }.map(\.octets)
    }

    /// Opens a channel to a PSM with the peer's CID 0x41; returns the system's CID and the app's identifier of the
    /// channel.
    func open(_ psm: UInt16, credits: Int = 100, isEnhanced: Bool = false) throws -> (cid: UInt16, id: ChannelID) {
        let fields =
            isEnhanced
            ? le(Int(psm)) + le(100) + le(100) + le(credits) + le(0x41)
            : le(Int(psm)) + le(0x41) + le(100) + le(100) + le(credits)
        let answer = try #require(signal(isEnhanced ? 0x17 : 0x14, 7, fields).first)
        let at = isEnhanced ? 12 : 4
        try #require(answer.count >= at + 2, "\(answer)")
        let id = try app.expect("opened") { event in
            if case .peripheral(.channelOpened(psm, _, let id)) = event { id } else { nil }
        }
        app.send(.channel(id, .grant(ServiceLimits.channelWindow)))
        return (UInt16(answer[at]) | UInt16(answer[at + 1]) << 8, id)
    }

    /// The channel events that the app received since the last call.
    func told(_ id: ChannelID) -> [ChannelEvent] {
        air.world.run(.milliseconds(500))
        return app.take().compactMap { event in if case .channel(id, let event) = event { event } else { nil } }
    }
}

/// Two octets in little-endian order.
func le(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)] }
