import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// A device that a central manager has found. Keep it: when the app has let go of it, its connection ends (behaviour 3.5).
open class CBPeripheral: CBPeer, @unchecked Sendable {
    // Safe: what changes is in a mutex.
    struct Contents: @unchecked Sendable {
        // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
        weak var delegate: (any CBPeripheralDelegate)?
        var name: String?
        var rssi: Int?
        var connection = ConnectionProgress()
        var tree = AttributeTree()
        /// The most octets of a write without response.
        var maximumWriteLength = 0
        /// Writes without response that the service takes before it gives some back (behaviour 5.14).
        var writeCredits = 0
        var strays = StrayRequests()
        /// Channels that are being opened.
        var openings: [CBL2CAPPSM] = []
        var isAuthorizedForNotifications = false
        var ledger = RequestLedger()
    }

    let contents = Mutex(Contents())
    /// For other modules of this package.
    package let happenings = Listeners<PeripheralHappening>()
    /// For other modules of this package.
    package let annex = Annex()
    let link: ManagerLink
    let registry: PeripheralRegistry
    private let number: UInt64

    init(identifier: UUID, number: UInt64, registry: PeripheralRegistry, link: ManagerLink) {
        self.number = number
        self.registry = registry
        self.link = link
        super.init(identifier: identifier)
    }

    deinit {
        let state = contents.withLock {
            $0.tree.removeAll()
            return $0.connection.state
        }
        if state == .connecting || state == .connected {
            Misuse.report(
                "Cancelling connection for unused peripheral \(identifier), name = \(name ?? "(null)"). Did you forget "
                    + "to keep a reference to it?"
            )
        }
        registry.remove(identifier, number: number, link: link)
    }

    /// Hears what becomes of the requests to this peripheral.
    open var delegate: (any CBPeripheralDelegate)? {
        get { contents.withLock { $0.delegate } }
        set { contents.withLock { $0.delegate = newValue } }
    }

    /// The name that the device gives itself once it has been connected, the advertised name before.
    open var name: String? { contents.withLock { $0.name } }

    /// The signal strength that ``readRSSI()`` last found, in dBm; nil before.
    open var rssi: NSNumber? { contents.withLock { $0.rssi }.map { NSNumber(value: $0) } }

    /// How this app is connected to the device.
    open var state: CBPeripheralState { contents.withLock { $0.connection.state } }

    /// The services found so far; nil before the first discovery has succeeded, and after a disconnection.
    open var services: [CBService]? { contents.withLock { $0.tree.primary } }

    /// Whether a write without response made now will be sent. If not, wait for
    /// `peripheralIsReady(toSendWriteWithoutResponse:)`.
    open var canSendWriteWithoutResponse: Bool {
        contents.withLock { $0.connection.state == .connected && $0.writeCredits > 0 }
    }

    /// Whether the device may have this system's notifications: never unless it was connected with
    /// ``CBConnectPeripheralOptionRequiresANCS`` (behaviour 3.19).
    open var ancsAuthorized: Bool { contents.withLock { $0.isAuthorizedForNotifications } }

    /// The most octets that one write takes; 0 when it is not connected (behaviour 5.7).
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        contents.withLock {
            guard $0.connection.state == .connected else { return 0 }
            // An attribute value has at most 512 octets (Core Vol 3 Part F 3.2.9).
            return type == .withResponse ? 512 : $0.maximumWriteLength
        }
    }

    // MARK: Discovering

    /// Discovers services; nil means all of them, which takes longer.
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        guard canCommand({ $0.peripheral($1, didDiscoverServices: $2) }) else { return }
        if delegate == nil {
            Misuse.report("Discovering services for peripheral \(self) while delegate is nil")
        }
        link.send(.discoverServices(Self.filter(serviceUUIDs)), of: identifier)
    }

    /// Discovers the services that a service includes; nil means all of them.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        guard canCommand({ $0.peripheral($1, didDiscoverIncludedServicesFor: service, error: $2) }) else { return }
        let handle = handle(of: service, for: .includedServices)
        let uuids = Self.filter(includedServiceUUIDs)
        link.send(.discoverIncludedServices(of: handle, uuids), of: identifier)
    }

    /// Discovers the characteristics of a service; nil means all of them.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        guard canCommand({ $0.peripheral($1, didDiscoverCharacteristicsFor: service, error: $2) }) else { return }
        let handle = handle(of: service, for: .characteristics)
        let uuids = Self.filter(characteristicUUIDs)
        link.send(.discoverCharacteristics(of: handle, uuids), of: identifier)
    }

    /// Discovers the descriptors of a characteristic.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        guard canCommand({ $0.peripheral($1, didDiscoverDescriptorsFor: characteristic, error: $2) }) else { return }
        let handle = handle(of: characteristic, for: .descriptors)
        link.send(.discoverDescriptors(of: handle), of: identifier)
    }

    // MARK: Reading and writing

    /// Reads a value, however long it is.
    open func readValue(for characteristic: CBCharacteristic) {
        guard canCommand({ $0.peripheral($1, didUpdateValueFor: characteristic, error: $2) }) else { return }
        let handle = handle(of: characteristic, for: .read)
        link.send(.readCharacteristic(handle), of: identifier)
    }

    /// Writes a value.
    ///
    /// - Parameter type: With a response the delegate hears once how it went. Without one nothing is heard, and what is too
    ///   long or has no room is lost (behaviours 5.5, 5.11).
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        let isConfirmed = type == .withResponse
        guard canCommand({ if isConfirmed { $0.peripheral($1, didWriteValueFor: characteristic, error: $2) } }) else {
            return
        }
        guard !isConfirmed else {
            let handle = handle(of: characteristic, for: .write)
            let value = PacketBuffer(copying: data)
            return link.send(.writeCharacteristic(handle, value: value), of: identifier)
        }
        writeWithoutResponse(data, for: characteristic)
    }

    private func writeWithoutResponse(_ data: Data, for characteristic: CBCharacteristic) {
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            return Misuse.warn(
                "Characteristic \(characteristic) does not specify the \"Write Without Response\" property - ignoring "
                    + "response-less write"
            )
        }
        enum Outcome { case stale, full, sendable(Int) }
        let outcome: Outcome = contents.withLock {
            guard $0.tree.contains(characteristic) else { return .stale }
            guard $0.writeCredits > 0 else { return .full }
            $0.writeCredits -= 1
            return .sendable($0.maximumWriteLength)
        }
        switch outcome {
        case .stale: Misuse.report("\(characteristic) is no longer part of \(self) - ignoring response-less write")
        case .full:
            Misuse.warn("\(self) has no room for a response-less write; wait until canSendWriteWithoutResponse is true")
        case .sendable(let limit):
            if data.count > limit {
                Misuse.warn("A response-less write to \(self) is cut from \(data.count) bytes to the possible \(limit)")
            }
            let value = PacketBuffer(copying: data.prefix(limit))
            link.send(.writeWithoutResponse(characteristic.handle, value: value), of: identifier)
        }
    }

    /// Subscribes to a characteristic, or ends that. Notifications are preferred where it has both (behaviour 5.16).
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        guard canCommand({ $0.peripheral($1, didUpdateNotificationStateFor: characteristic, error: $2) }) else {
            return
        }
        let handle = handle(of: characteristic, for: .notify)
        link.send(.setNotify(handle, isEnabled: enabled), of: identifier)
    }

    /// Reads a descriptor, however long it is.
    open func readValue(for descriptor: CBDescriptor) {
        guard canCommand({ $0.peripheral($1, didUpdateValueFor: descriptor, error: $2) }) else { return }
        let handle = handle(of: descriptor, for: .readDescriptor)
        link.send(.readDescriptor(handle), of: identifier)
    }

    /// Writes a descriptor.
    ///
    /// - Precondition: It is not a Client Characteristic Configuration (2902), which ``setNotifyValue(_:for:)`` is for.
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        precondition(
            descriptor.uuid.uuid != 0x2902,
            "Client Characteristic Configuration descriptors cannot be written; use setNotifyValue(_:for:)"
        )
        guard canCommand({ $0.peripheral($1, didWriteValueFor: descriptor, error: $2) }) else { return }
        let handle = handle(of: descriptor, for: .writeDescriptor)
        link.send(.writeDescriptor(handle, value: PacketBuffer(copying: data)), of: identifier)
    }

    /// Reads the signal strength of the link.
    open func readRSSI() {
        guard canCommand({ $0.peripheral($1, didReadRSSI: 127, error: $2) }) else { return }
        link.send(.readRSSI, of: identifier)
    }

    // MARK: Channels

    /// Opens an L2CAP channel to what the device takes them for under this number. The delegate hears of each exactly once, in the
    /// order of asking, and at the latest when the connection ends (behaviours 8.5, 8.12).
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard canCommand() else { return }
        contents.withLock { $0.openings.append(PSM) }
        link.send(.openChannel(psm: PSM), of: identifier)
    }

    // MARK: Measuring distances

    /// Measures the distance until ``cancelChannelSoundingSession()``, where the controller can.
    open func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {
        guard canCommand({ $0.peripheral($1, didCompleteChannelSoundingSession: $2) }) else { return }
        link.send(.startChannelSounding, of: identifier)
    }

    /// Ends measuring.
    open func cancelChannelSoundingSession() {
        guard canCommand() else { return }
        link.send(.cancelChannelSounding, of: identifier)
    }

    // MARK: Inside

    /// No list and an empty list both mean all (behaviour 4.1).
    private static func filter(_ uuids: [CBUUID]?) -> [BluetoothUUID]? {
        uuids.flatMap { $0.isEmpty ? nil : $0.values }
    }

    /// Tells a delegate that a command was refused.
    private typealias Refusal = @Sendable (any CBPeripheralDelegate, CBPeripheral, any Error) -> Void

    /// Whether it is connected. If not the log says so, and the command is to be ignored (behaviour 1.7); in strict mode the
    /// delegate hears of it too.
    private func canCommand(_ tell: @escaping Refusal = { _, _, _ in }, _ command: String = #function) -> Bool {
        let isRestoring = registry.isRestoring.load(ordering: .acquiring)
        if state == .connected, !isRestoring { return true }
        let text =
            isRestoring
            ? "\(self) can only accept commands once its manager is in the powered on state: \(command)"
            : "\(self) can only accept commands while in the connected state: \(command)"
        Misuse.report(text)
        guard Misuse.isStrict else { return false }
        link.callBack { [weak self] in
            if let self, let delegate { tell(delegate, self, Misuse.error(.notConnected, text)) }
        }
        return false
    }

    /// Where the peer has `attribute`. One that was invalidated, or is not this peripheral's, is asked for at handle 0, which
    /// no server has (Core Vol 3 Part F 3.2.2), so that the request fails in its turn as it should (behaviour 4.16).
    private func handle(of attribute: CBAttribute, for kind: StrayRequests.Kind) -> AttributeHandle {
        let isKnown = contents.withLock {
            if $0.tree.contains(attribute) { return true }
            $0.strays.add(attribute, kind)
            return false
        }
        if isKnown { return attribute.handle }
        Misuse.report("\(attribute) is no longer part of \(self); discover it again")
        return 0
    }

    /// Class, identifier, name, ATT MTU and state.
    open override var description: String {
        let (name, state, length) = contents.withLock { ($0.name, $0.connection.state, $0.maximumWriteLength) }
        let mtu = state == .connected ? length + 3 : 0
        return "<\(nameAndAddress), identifier = \(identifier.uuidString), name = \(name ?? "(null)"), mtu = \(mtu), "
            + "state = \(Self.words[state] ?? "unknown")>"
    }

    private static let words: [CBPeripheralState: String] = [
        .disconnected: "disconnected", .connecting: "connecting", .connected: "connected",
        .disconnecting: "disconnecting",
    ]
}
