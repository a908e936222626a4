import BluetoothTypes

/// One end of the connection between a host and a controller. Both ends use the same protocol: a host uses one, a real
/// or virtual controller the other.
///
/// Use a transport on the event loop of its Bluetooth system only. A transport never calls ``onReceive`` or ``onClose``
/// from within one of its own methods: it delivers each report as a separate task. Callbacks may call any method.
package protocol HCITransport: AnyObject {
    /// Called with each packet that arrives.
    var onReceive: ((HCIPacket) -> Void)? { get set }
    /// Called once when the transport has closed, with the reason. Nothing is received afterwards.
    var onClose: ((HCITransportError) -> Void)? { get set }
    /// Where the other end is attached; the same each time that it is attached there. Empty if unknown.
    ///
    /// The component that opened the transport provides it, not the other end.
    var place: String { get }
    /// The maximum ACL payload that the transport carries, in octets, whatever the controller's buffer size; nil if
    /// there is no limit.
    var maximumACLPayload: Int? { get }
    /// Whether the transport is still opening. Packets sent meanwhile wait and have not reached the other end.
    var isOpening: Bool { get }

    /// Sends a packet. Does nothing after the transport has closed.
    func send(_ packet: HCIPacket)

    /// Closes the transport, without a call of ``onClose``.
    func close()

    /// Closes the transport and resets the device by means outside HCI, such as a USB port reset. Used for a controller
    /// that neither Reset nor a new transport has recovered.
    ///
    /// Afterwards the device may be missing for a moment, or have another number. The caller must apply a time-out of
    /// its own, and open a new transport after it in any case. ``onClose`` is not called. If the transport is already
    /// closed, the device may still be reset.
    ///
    /// - Parameter completion: Called once, on the event loop and possibly before this method returns, when a new
    ///   transport may be opened.
    func resetDevice(_ completion: @escaping (DeviceReset) -> Void)
}

extension HCITransport {
    package var place: String { "" }
    package var maximumACLPayload: Int? { nil }
    /// The default: transports are open when they are created.
    package var isOpening: Bool { false }

    /// The default: closes the transport and reports ``DeviceReset/impossible``.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        close()
        completion(.impossible)
    }
}

/// The result of a device reset (``HCITransport/resetDevice(_:)``).
package enum DeviceReset: Hashable, Sendable {
    case done
    /// The transport has no means of resetting the device.
    case impossible
    /// The reset failed; `reason` includes what to do about it, if known.
    case failed(reason: String)
}

/// The reason for which a transport has closed.
package enum HCITransportError: Error, Hashable, Sendable {
    case unreachable(address: String, reason: String)
    case closedByPeer
    /// The other end sent octets that are not an HCI packet.
    case malformed(PacketError)
    /// The operating system or the transport protocol reported an error.
    case failed(reason: String)
}

extension HCITransportError: CustomStringConvertible {
    /// A clause for log lines.
    package var description: String {
        switch self {
        case .unreachable(let address, let reason): "cannot reach \(address): \(reason)"
        case .closedByPeer: "the other end closed it"
        case .malformed(let error): "the other end sent octets that are not an HCI packet: \(error)"
        case .failed(let reason): reason
        }
    }
}
