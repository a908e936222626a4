import BluetoothTypes

/// One end of the line between a host and a controller. Both ends look the same: a host on one, a controller, real or
/// virtual, on the other.
///
/// Lives on the loop of its Bluetooth system; everything is called there. A transport never calls ``onReceive`` or ``onClose`` from inside a call
/// of one of its own methods: each report is a task of its own. Inside a callback the owner may call any method.
package protocol HCITransport: AnyObject {
    /// Takes each packet that arrives.
    var onReceive: ((HCIPacket) -> Void)? { get set }
    /// Called once when the line is gone, with the reason; nothing is received after that.
    var onClose: ((HCITransportError) -> Void)? { get set }
    /// Where the other end is attached, as whoever made the line knows it, and not as that end says; the same each time that
    /// it is attached there. Empty where nobody knows.
    var place: String { get }
    /// The longest payload of an ACL packet that goes through the line, whatever the controller has room for; nil where the line
    /// takes all that there can be.
    var maximumACLPayload: Int? { get }
    /// Whether what is sent waits for the line to open: nothing has reached the other end yet.
    var isOpening: Bool { get }

    /// Sends a packet. On a line that is gone nothing happens.
    func send(_ packet: HCIPacket)

    /// Closes the line; ``onClose`` is not called for one's own closing.
    func close()

    /// Closes the line and resets the device behind it by a way beside HCI, as the reset of a USB port is one: for a controller
    /// that a Reset and a new line did not mend.
    ///
    /// `completion` is called once, on the loop, perhaps from within this call, when a new line may be opened. The device may have
    /// another number by then, or be away for a moment. Whoever asks does not wait for ever, and opens a new line after a while in any
    /// case. ``onClose`` is not called for this closing, and on a line that is gone already the device may be reset all the same.
    func resetDevice(_ completion: @escaping (DeviceReset) -> Void)
}

extension HCITransport {
    /// Nobody knows.
    package var place: String { "" }
    /// Lines take what controllers take.
    package var maximumACLPayload: Int? { nil }
    /// Most lines are made open.
    package var isOpening: Bool { false }

    /// Nothing but HCI leads to the device.
    package func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        close()
        completion(.impossible)
    }
}

/// What came of the reset of a device (``HCITransport/resetDevice(_:)``).
package enum DeviceReset: Hashable, Sendable {
    /// The device has been reset.
    case done
    /// The line knows no way to do that.
    case impossible
    /// There is a way, and it failed; what to do about it, as far as that is known.
    case failed(reason: String)
}

/// Why a line between host and controller is gone.
package enum HCITransportError: Error, Hashable, Sendable {
    /// Nobody answers at the address.
    case unreachable(address: String, reason: String)
    /// The other end closed the line.
    case closedByPeer
    /// Octets that are no HCI packet.
    case malformed(PacketError)
    /// The operating system reports an error.
    case failed(reason: String)
}
