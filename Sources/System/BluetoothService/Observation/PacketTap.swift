import BluetoothTypes
import EventLoops
import Foundation
import HCI
import ServiceMessages

/// The HCI packets of a system's controllers, for the tools that follow them. Without one, a packet costs a comparison.
///
/// Used on the loop of its system only.
package final class PacketTap {
    package static let maximumListeners = 16

    /// Identifies a listener until it is removed.
    package struct Registration: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Listener {
        let registration: Registration
        let user: UInt32?
        let receive: (MonitoredPacket) -> Void
        let amend: (UInt64, (inout MonitoredPacket) -> Void) -> Void
    }

    /// Returns the identifier of the peer that a packet is about. Called only if there is a listener.
    var nameOfPeer: (PacketPeer) -> UUID? = { _ in nil }

    private let observers: Observers
    private let loop: any EventLoop
    private var listeners: [Listener] = []
    private var lastRegistration: UInt64 = 0
    private var mask = SecretMask()
    /// The number of the last packet.
    package private(set) var lastNumber: UInt64 = 0

    init(_ observers: Observers, loop: any EventLoop) {
        (self.observers, self.loop) = (observers, loop)
    }

    /// Adds a listener, unless there is no place for it (``refusal(for:)``).
    ///
    /// - Parameters:
    ///   - user: The user whose tool follows the packets; nil for the service itself.
    ///   - receive: Receives each packet.
    ///   - amend: Receives what is known of a packet after it was delivered: its number, and the change.
    package func add(
        for user: UInt32?,
        _ receive: @escaping (MonitoredPacket) -> Void,
        amend: @escaping (UInt64, (inout MonitoredPacket) -> Void) -> Void
    ) -> Registration? {
        guard refusal(for: user) == nil else { return nil }
        // PDUs that began before are unknown, and their rest is masked.
        if listeners.isEmpty { mask = SecretMask() }
        lastRegistration += 1
        let registration = Registration(number: lastRegistration)
        listeners.append(Listener(registration: registration, user: user, receive: receive, amend: amend))
        return registration
    }

    /// Returns why there is no place for another listener of a user, or nil if there is.
    package func refusal(for user: UInt32?) -> ServiceError? {
        guard listeners.count < Self.maximumListeners else {
            return ServiceError(.outOfSpace, reason: "\(Self.maximumListeners) tools follow packets; end one first")
        }
        guard let user else { return nil }
        let users = listeners.compactMap(\.user)
        return ServiceLimits.packetStreams.refusal("streams of packets", forUser: user, beside: users)
    }

    package func remove(_ registration: Registration) {
        listeners.removeAll { $0.registration == registration }
    }

    func sent(_ packet: HCIPacket) {
        guard !listeners.isEmpty else { return }
        note(packet, .hostToController)
    }

    /// Records a packet that was received, and the observations that `deliver` makes of it.
    func received(_ packet: HCIPacket, deliver: () -> Void) {
        guard !listeners.isEmpty else { return deliver() }
        let (number, peer) = note(packet, .controllerToHost)
        let last = observers.lastNumber
        deliver()
        let events = Int(clamping: observers.lastNumber - last)
        // Reports are about devices that are known from then on.
        let later = peer == nil ? packet.peer.flatMap(nameOfPeer) : nil
        guard events > 0 || later != nil else { return }
        for listener in listeners {
            listener.amend(number) { packet in
                if events > 0 { (packet.firstEvent, packet.events) = (last + 1, UInt16(clamping: events)) }
                packet.peer = packet.peer ?? later
            }
        }
    }

    /// Shows a frame of a simulated radio to the tools that follow packets, beside those of the controller. It is about
    /// the first of the devices that is known.
    ///
    /// - Parameters:
    ///   - frame: The frame without keys, in the form of `PcapngWriter.LinkType.air`.
    ///   - start: The beginning of the frame.
    ///   - sender: The name of the device that has sent it; empty if it is not known.
    ///   - isReceived: Whether another device has sent it.
    ///   - addresses: The addresses of the devices that it is about, as far as they are known.
    package func recordPacket(
        _ frame: PacketBuffer,
        at start: Instant,
        from sender: String = "",
        isReceived: Bool,
        of addresses: [BluetoothAddress]
    ) {
        guard !listeners.isEmpty else { return }
        lastNumber += 1
        var noted = MonitoredPacket()
        (noted.number, noted.time, noted.kind) = (lastNumber, start.microseconds, MonitoredPacket.air)
        (noted.isReceived, noted.octets) = (isReceived, frame)
        noted.sender = sender.prefix(octets: MonitoredPacket.maximumSender)
        noted.peer = addresses.lazy.compactMap { self.nameOfPeer(.address($0)) }.first
        for listener in listeners { listener.receive(noted) }
    }

    /// Counts frames that no tool needs to see, so that the others have the numbers that they would have with them.
    package func passFrames(_ count: Int) {
        if !listeners.isEmpty { lastNumber += UInt64(count) }
    }

    @discardableResult
    private func note(_ packet: HCIPacket, _ direction: HCIDirection) -> (number: UInt64, peer: UUID?) {
        lastNumber += 1
        let peer = packet.peer.flatMap(nameOfPeer)
        let noted = MonitoredPacket(
            number: lastNumber,
            time: loop.now.microseconds,
            packet: mask.masked(packet, direction),
            direction: direction,
            cause: observers.cause,
            peer: peer
        )
        for listener in listeners { listener.receive(noted) }
        return (lastNumber, peer)
    }
}

/// A transport whose packets the tap receives.
final class TappedTransport: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    var place: String { line.place }
    var maximumACLPayload: Int? { line.maximumACLPayload }
    var isOpening: Bool { line.isOpening }

    private let line: any HCITransport
    private let tap: PacketTap

    init(_ line: any HCITransport, _ tap: PacketTap) {
        (self.line, self.tap) = (line, tap)
        line.onReceive = { [weak self] packet in
            guard let self else { return }
            tap.received(packet) { self.onReceive?(packet) }
        }
        line.onClose = { [weak self] in self?.onClose?($0) }
    }

    func send(_ packet: HCIPacket) {
        tap.sent(packet)
        line.send(packet)
    }

    func close() { line.close() }

    func resetDevice(_ completion: @escaping (DeviceReset) -> Void) { line.resetDevice(completion) }
}
