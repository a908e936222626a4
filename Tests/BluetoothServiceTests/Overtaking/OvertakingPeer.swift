import AccessStandIns
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import HCIHost
import L2CAP
import SMP
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// An accessory with a real attribute server. Whenever a request of the phone arrives, a test may send something else
/// before the server answers, or answer in its place.
final class OvertakingPeer {
    static let service: BluetoothUUID = 0xFFE5
    static let measurement: BluetoothUUID = 0xFFE6
    static let secret: BluetoothUUID = 0xFFE7

    /// The role of the phone on the link.
    enum Role: CaseIterable {
        case central, peripheral
    }

    /// The handling of a request after ``onRequest``.
    enum Fate {
        /// The server handles it.
        case served
        /// Another answer is sent in place of the server's.
        case answered([UInt8])
    }

    let air = RadioWorld()
    let phone: BluetoothSystem
    let app: TestManager
    let accessory: TestAccessory
    let role: Role
    /// The measurement, whose value can be read, notified and indicated.
    let value: UInt16
    /// The client configuration of ``value``.
    let configuration: UInt16
    /// Called with each request of the attribute protocol that the phone sends, and its number from 0 on.
    var onRequest: (Int, [UInt8]) -> Fate = { _, _ in .served }
    /// Called when a link has been made, before the phone sends anything on it.
    var onLink: () -> Void = {}
    /// The requests of the phone, in the order of their arrival.
    private(set) var requests: [[UInt8]] = []
    /// Everything else that the phone sent on the channel of the attribute protocol.
    private(set) var others: [[UInt8]] = []
    private(set) var peer = UUID()
    /// The services that the app discovered last.
    private(set) var services: [BluetoothUUID] = []
    private let person = Agreeable()
    private let central: Central
    private var read = 0

    init(phoneIs role: Role, hasHash: Bool = true, properties: CharacteristicProperties = [.read, .notify]) throws {
        self.role = role
        phone = air.system("Phone") { $0.pairing.ioCapability = .noInputNoOutput }
        phone.peers.deviceSecurity.prompter = person
        app = air.world.manager(.central, on: phone)
        accessory = try TestAccessory(on: air, tellsOfChanges: true, hasHash: hasHash, bonds: try air.bonds(3))
        accessory.access.deviceSecurity.prompter = person
        try accessory.publish()
        let encrypted = AttributePermissions(read: .encrypted)
        let published = try accessory.database.add(
            ServiceDefinition(
                Self.service,
                characteristics: [
                    CharacteristicDefinition(
                        Self.measurement,
                        properties: properties,
                        permissions: .readable,
                        source: .fixed([7])
                    ),
                    CharacteristicDefinition(
                        Self.secret,
                        properties: .read,
                        permissions: encrypted,
                        source: .fixed([9])
                    ),
                ]
            )
        )
        value = published.characteristics[0].value
        configuration = published.characteristics[0].configuration ?? 0
        central = Central(accessory.access)
        let open = accessory.access.onLink
        accessory.access.onLink = { [weak self] link in
            open?(link)
            // L2CAP starts receiving in the loop's next task; this runs after it.
            self?.air.world.loop.execute { self?.tamper(link) }
        }
    }

    private func tamper(_ link: AccessLink) {
        onLink()
        let original = link.connection.onReceive
        link.connection.onReceive = { [weak self] fragment, isStart in
            guard let self, isStart, fragment.count > 4, fragment[2] == 4, fragment[3] == 0 else {
                original?(fragment, isStart)
                return
            }
            let pdu = Array(fragment.suffix(after: 4))
            // A request has an even method, and is no command, response, notification, indication or confirmation.
            guard pdu[0] & 1 == 0, pdu[0] & 0x40 == 0, pdu[0] != 0x1E else {
                others.append(pdu)
                original?(fragment, isStart)
                return
            }
            requests.append(pdu)
            switch onRequest(requests.count - 1, pdu) {
            case .served: original?(fragment, isStart)
            case .answered(let answer): send(answer)
            }
        }
    }

    var link: AccessLink? { accessory.links.last }

    /// Sends a PDU of the attribute protocol, whatever the server is about to send.
    func send(_ pdu: [UInt8]) { link?.l2cap.send(PacketBuffer(copying: pdu), on: .attribute) }

    func notify(_ octets: [UInt8]) { send([0x1B] + le(Int(value)) + octets) }

    func indicate(_ octets: [UInt8]) { send([0x1D] + le(Int(value)) + octets) }

    // MARK: The app

    /// Waits for an event that has not been looked at. Removes nothing.
    @discardableResult
    func wait<T>(_ what: String, _ pick: (PeerEvent) -> T?) throws -> T {
        var found: T?
        air.world.run(until: {
            let events = app.events
            while found == nil, read < events.count {
                defer { read += 1 }
                if let event = events[read].answered(of: peer) { found = pick(event) }
            }
            return found != nil
        })
        return try #require(found, "\(what) did not come")
    }

    /// Removes the events so far.
    func forgetEvents() {
        app.take()
        read = 0
    }

    func request(_ request: LinkRequest) { app.send(.central(.peer(peer, .link(request)))) }

    /// The accessory advertises, or connects to the phone, which advertises; the app connects.
    func connect() throws {
        if role == .central {
            accessory.advertise()
            peer = try app.find(TestAccessory.service).identifier
        } else {
            let published = air.world.manager(.peripheral, on: phone)
            try published.publish()
            central.generalConnect(pick: { _ in true }) { _ in }
            try #require(air.world.run { phone.links.all.first?.isReady == true })
            peer = try #require(phone.links.all.first?.peer)
        }
        forgetEvents()
        app.send(.connect(peer: peer, options: ConnectOptions()))
        try wait("connected") { if case .connected = $0 { () } else { nil } }
    }

    func disconnect() throws {
        link?.terminate()
        try wait("disconnected") { if case .disconnected = $0 { () } else { nil } }
        air.world.run(.seconds(1))
    }

    /// The characteristics of all services that the app discovers now.
    func discover() throws -> [BluetoothUUID: AttributeHandle] {
        request(.discoverServices(nil))
        let services = try wait("services") { if case .servicesDiscovered(let found) = $0 { found } else { nil } }.get()
        self.services = services.map(\.uuid)
        var all: [BluetoothUUID: AttributeHandle] = [:]
        for service in services {
            request(.discoverCharacteristics(of: service.handle, nil))
            let found = try wait("characteristics") { event in
                if case .characteristicsDiscovered(service.handle, let found) = event { found } else { nil }
            }
            for characteristic in try found.get() { all[characteristic.uuid] = characteristic.handle }
        }
        return all
    }

    /// Subscribes to ``value`` or another one, or ends the subscription. Returns the outcome.
    func setNotify(_ isEnabled: Bool, of other: UInt16? = nil) throws -> (isNotifying: Bool, error: ServiceError?) {
        let handle = other ?? value
        request(.setNotify(handle, isEnabled: isEnabled))
        return try wait("outcome") { event in
            guard case .notifyStateChanged(handle, let isNotifying, let error) = event else { return nil }
            return (isNotifying, error)
        }
    }

    /// The values that the app was notified of.
    var values: [[UInt8]] {
        app.events.compactMap { event in
            if case .valueNotified(value, let octets)? = event.answered(of: peer) { octets.bytes } else { nil }
        }
    }

    /// The number of indications that the phone has confirmed.
    var confirmations: Int { others.count { $0 == [0x1E] } }
}

extension Event {
    /// The event of a peer, whether or not it answers a request.
    fileprivate func answered(of peer: UUID) -> PeerEvent? {
        switch self {
        case .central(.peer(peer, let event)), .central(.answered(peer, number: _, let event)): event
        default: nil
        }
    }
}
