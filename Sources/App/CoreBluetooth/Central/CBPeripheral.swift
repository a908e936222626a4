import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// A remote device in the peripheral role, as one central manager knows it.
///
/// ``CBCentralManager`` creates peripherals when it discovers, retrieves or restores them. Keep the object: when the
/// app releases it, its connection is cancelled (behaviour 3.5). Commands need a connection; without one they have no
/// effect but a line in the log (behaviour 1.7).
///
/// Methods may be called from any thread. The delegate is called on the manager's queue (behaviour 13.1). Requests to
/// one peripheral are answered in the order in which they were made (behaviour 5.22).
open class CBPeripheral: CBPeer, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    let contents = Mutex(PeripheralContents())
    /// The events of this peripheral, for other modules of this package.
    package let updates = Listeners<PeripheralUpdate>()
    private let attachment = Annex()
    private let link: ManagerLink
    private let registry: PeripheralRegistry
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
            return $0.state
        }
        if state == .connecting || state == .connected {
            link.report(
                "Cancelling connection for unused peripheral \(identifier), name = \(name ?? "(null)"). Did you forget "
                    + "to keep a reference to it?"
            )
        }
        registry.remove(identifier, number: number, link: link)
    }

    /// The delegate, held weakly (behaviour 13.5). It is called on the manager's queue.
    open var delegate: (any CBPeripheralDelegate)? {
        get { contents.withLock { $0.delegate } }
        set { contents.withLock { $0.delegate = newValue } }
    }

    /// The name of the device: its GAP device name once it has been connected, the advertised name before, or nil
    /// (behaviour 2.23).
    ///
    /// The GAP device name is kept for later discoveries (behaviour 2.25). When it changes,
    /// ``CBPeripheralDelegate/peripheralDidUpdateName(_:)`` is called (behaviour 2.24).
    open var name: String? { contents.withLock { $0.name } }

    /// The signal strength that ``readRSSI()`` last read, in dBm, or nil if there was none.
    open var rssi: NSNumber? { contents.withLock { $0.rssi }.map { NSNumber(value: $0) } }

    /// The state of this app's connection to the device, whatever other apps do (behaviours 3.4, 3.9).
    ///
    /// It changes to `connecting` and `disconnecting` at once when the app asks, and otherwise right before the
    /// delegate is called.
    open var state: CBPeripheralState { contents.withLock { $0.state } }

    /// The services discovered so far. Nil until a discovery has succeeded, and after a disconnection (behaviours 3.14,
    /// 4.3).
    open var services: [CBService]? { contents.withLock { $0.tree.primary } }

    /// Whether a write without response made now will be sent.
    ///
    /// It is true from the connection on, until about 20 writes wait (behaviours 5.13 to 5.15). When it is false, wait
    /// for ``CBPeripheralDelegate/peripheralIsReady(toSendWriteWithoutResponse:)``.
    open var canSendWriteWithoutResponse: Bool {
        contents.withLock { $0.state == .connected && $0.writeCredits > 0 }
    }

    /// Whether the device may read this system's notifications. False unless it was connected with
    /// ``CBConnectPeripheralOptionRequiresANCS`` (behaviour 3.19).
    open var ancsAuthorized: Bool { contents.withLock { $0.isAuthorizedForNotifications } }

    /// Returns the length of the longest value of one write, in octets.
    ///
    /// The length for writes without response grows with the MTU exchange, so ask before each batch (behaviour 5.8).
    ///
    /// - Parameter type: The kind of write.
    /// - Returns: 512 for a write with response, the MTU less 3 for one without, and 0 when not connected
    ///   (behaviour 5.7).
    @discardableResult
    open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
        contents.withLock {
            guard $0.state == .connected else { return 0 }
            // An attribute value has at most 512 octets (Core Vol 3 Part F 3.2.9).
            return type == .withResponse ? 512 : $0.maximumWriteLength
        }
    }

    // MARK: Discovery

    /// Discovers services of the peripheral.
    ///
    /// The outcome is reported to ``CBPeripheralDelegate/peripheral(_:didDiscoverServices:)``. Discovery adds to
    /// ``services`` and keeps the objects found before (behaviour 4.2). Services of the system are never shown
    /// (behaviour 4.5).
    ///
    /// - Parameter serviceUUIDs: The services to look for. Nil or an empty list discovers all, which takes longer
    ///   (behaviour 4.1).
    open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        guard canCommand({ $0.peripheral($1, didDiscoverServices: $2) }) else { return }
        if delegate == nil {
            link.report("Discovering services for peripheral \(self) while delegate is nil")
        }
        send(.discoverServices(serviceUUIDs.wanted))
    }

    /// Discovers the services that a service includes.
    ///
    /// The outcome is reported to ``CBPeripheralDelegate/peripheral(_:didDiscoverIncludedServicesFor:error:)``. For a
    /// service that is no longer valid it is an error (behaviour 4.16).
    ///
    /// - Parameters:
    ///   - includedServiceUUIDs: The services to look for. Nil or an empty list discovers all (behaviour 4.1).
    ///   - service: The service.
    open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
        guard canCommand({ $0.peripheral($1, didDiscoverIncludedServicesFor: service, error: $2) }) else { return }
        let handle = handle(of: service, for: .includedServices)
        send(.discoverIncludedServices(of: handle, includedServiceUUIDs.wanted))
    }

    /// Discovers the characteristics of a service.
    ///
    /// The outcome is reported to ``CBPeripheralDelegate/peripheral(_:didDiscoverCharacteristicsFor:error:)``. For a
    /// service that is no longer valid it is an error (behaviour 4.16).
    ///
    /// - Parameters:
    ///   - characteristicUUIDs: The characteristics to look for. Nil or an empty list discovers all (behaviour 4.1).
    ///   - service: The service.
    open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
        guard canCommand({ $0.peripheral($1, didDiscoverCharacteristicsFor: service, error: $2) }) else { return }
        let handle = handle(of: service, for: .characteristics)
        send(.discoverCharacteristics(of: handle, characteristicUUIDs.wanted))
    }

    /// Discovers the descriptors of a characteristic.
    ///
    /// The outcome is reported to ``CBPeripheralDelegate/peripheral(_:didDiscoverDescriptorsFor:error:)``. For a
    /// characteristic that is no longer valid it is an error (behaviour 4.16).
    ///
    /// - Parameter characteristic: The characteristic.
    open func discoverDescriptors(for characteristic: CBCharacteristic) {
        guard canCommand({ $0.peripheral($1, didDiscoverDescriptorsFor: characteristic, error: $2) }) else { return }
        let handle = handle(of: characteristic, for: .descriptors)
        send(.discoverDescriptors(of: handle))
    }

    // MARK: Values

    /// Reads the value of a characteristic. The system fetches a long value in several requests (behaviour 5.2).
    ///
    /// The value or the error is reported to `peripheral(_:didUpdateValueFor:error:)`. If the peer requires security,
    /// the system pairs first (behaviour 6.1).
    ///
    /// - Parameter characteristic: The characteristic. If it is no longer valid the read fails (behaviour 4.16).
    open func readValue(for characteristic: CBCharacteristic) {
        guard canCommand({ $0.peripheral($1, didUpdateValueFor: characteristic, error: $2) }) else { return }
        let handle = handle(of: characteristic, for: .read)
        send(.readCharacteristic(handle))
    }

    /// Writes the value of a characteristic.
    ///
    /// A write with response is reported to `peripheral(_:didWriteValueFor:error:)`, once (behaviour 5.5). The system
    /// sends a value above the MTU less 3 in parts (behaviour 5.9). If the peer requires security, the system pairs
    /// first (behaviour 6.1).
    ///
    /// A write without response has no callback. It is cut at ``maximumWriteValueLength(for:)`` and dropped while
    /// ``canSendWriteWithoutResponse`` is false, both with a line in the log (behaviours 5.11, 5.13). It is also
    /// dropped if the characteristic lacks the property (behaviour 5.12).
    ///
    /// - Parameters:
    ///   - data: The value, which is copied (behaviour 5.6).
    ///   - characteristic: The characteristic. If it is no longer valid the write fails (behaviour 4.16).
    ///   - type: Whether the peer confirms the write.
    open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
        let isConfirmed = type == .withResponse
        guard canCommand({ if isConfirmed { $0.peripheral($1, didWriteValueFor: characteristic, error: $2) } }) else {
            return
        }
        guard !isConfirmed else {
            let handle = handle(of: characteristic, for: .write)
            let value = PacketBuffer(copying: data)
            return send(.writeCharacteristic(handle, value: value))
        }
        writeWithoutResponse(data, for: characteristic)
    }

    private func writeWithoutResponse(_ data: Data, for characteristic: CBCharacteristic) {
        guard characteristic.properties.contains(.writeWithoutResponse) else {
            return link.warn(
                "Characteristic \(characteristic) does not specify the \"Write Without Response\" property - ignoring "
                    + "response-less write"
            )
        }
        enum Outcome { case stale, full, sendable(Int) }
        let outcome: Outcome = contents.withLock {
            guard $0.tree.contains(characteristic) else { return .stale }
            return $0.useWriteCredit() ? .sendable($0.maximumWriteLength) : .full
        }
        keyValues.check()
        switch outcome {
        case .stale: link.report("\(characteristic) is no longer part of \(self) - ignoring response-less write")
        case .full:
            link.warn("\(self) has no room for a response-less write; wait until canSendWriteWithoutResponse is true")
            link.note(.writeWithoutRoom(identifier))
        case .sendable(let limit):
            if data.count > limit {
                link.warn("A response-less write to \(self) is cut from \(data.count) bytes to the maximum \(limit)")
            }
            let value = PacketBuffer(copying: data.prefix(limit))
            send(.writeWithoutResponse(characteristic.handle, value: value))
        }
    }

    /// Subscribes to notifications or indications of a characteristic, or unsubscribes.
    ///
    /// Where the characteristic supports both, notifications are used (behaviour 5.16). The outcome is reported to
    /// ``CBPeripheralDelegate/peripheral(_:didUpdateNotificationStateFor:error:)``. Subscriptions of the app end with
    /// the connection (behaviour 5.19).
    ///
    /// - Parameters:
    ///   - enabled: Whether to subscribe.
    ///   - characteristic: The characteristic. If it is no longer valid the request fails (behaviour 4.16).
    open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
        guard canCommand({ $0.peripheral($1, didUpdateNotificationStateFor: characteristic, error: $2) }) else {
            return
        }
        let handle = handle(of: characteristic, for: .notify)
        send(.setNotify(handle, isEnabled: enabled))
    }

    /// Reads the value of a descriptor. The system fetches a long value in several requests (behaviour 5.2).
    ///
    /// The value or the error is reported to `peripheral(_:didUpdateValueFor:error:)`.
    ///
    /// - Parameter descriptor: The descriptor. If it is no longer valid the read fails (behaviour 4.16).
    open func readValue(for descriptor: CBDescriptor) {
        guard canCommand({ $0.peripheral($1, didUpdateValueFor: descriptor, error: $2) }) else { return }
        let handle = handle(of: descriptor, for: .readDescriptor)
        send(.readDescriptor(handle))
    }

    /// Writes the value of a descriptor.
    ///
    /// The outcome is reported to `peripheral(_:didWriteValueFor:error:)`.
    ///
    /// - Parameters:
    ///   - data: The value, which is copied (behaviour 5.6).
    ///   - descriptor: The descriptor. If it is no longer valid the write fails (behaviour 4.16).
    /// - Precondition: The descriptor is not a Client Characteristic Configuration (2902). Use
    ///   ``setNotifyValue(_:for:)`` for that (behaviour 4.7).
    open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
        precondition(
            descriptor.uuid.uuid != 0x2902,
            "Client Characteristic Configuration descriptors cannot be written; use setNotifyValue(_:for:)"
        )
        guard canCommand({ $0.peripheral($1, didWriteValueFor: descriptor, error: $2) }) else { return }
        let handle = handle(of: descriptor, for: .writeDescriptor)
        send(.writeDescriptor(handle, value: PacketBuffer(copying: data)))
    }

    /// Reads the signal strength of the link. The result is reported to
    /// ``CBPeripheralDelegate/peripheral(_:didReadRSSI:error:)`` (behaviour 5.24).
    open func readRSSI() {
        guard canCommand({ $0.peripheral($1, didReadRSSI: 127, error: $2) }) else { return }
        send(.readRSSI)
    }

    // MARK: Channels

    /// Opens an L2CAP channel to a PSM of the device.
    ///
    /// The outcome is reported to ``CBPeripheralDelegate/peripheral(_:didOpen:error:)``: exactly once for each call, in
    /// the order of asking, and at the latest when the connection ends (behaviours 8.5, 8.12). With
    /// CoreBluetoothExtras, each call of `openChannel(_:deadline:)` has a result of its own (behaviour 15.23).
    ///
    /// - Parameter PSM: The number that the device accepts channels on. The device has to publish it, for instance in a
    ///   characteristic (behaviour 8.3).
    open func openL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard canCommand({ $0.peripheral($1, didOpen: nil, error: $2) }) else { return }
        contents.withLock { $0.addOpening(of: PSM) }
        send(.openChannel(psm: PSM))
    }

    // MARK: Channel Sounding

    /// Starts to measure the distance to the peripheral by Channel Sounding.
    ///
    /// The distances arrive in ``CBPeripheralDelegate/peripheral(_:didReceive:error:)`` until
    /// ``cancelChannelSoundingSession()``. A session that cannot be started ends at once with an error, in
    /// ``CBPeripheralDelegate/peripheral(_:didCompleteChannelSoundingSession:)`` (behaviours 17.2, 17.3).
    ///
    /// - Parameter configuration: The configuration of the session.
    open func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {
        guard canCommand({ $0.peripheral($1, didCompleteChannelSoundingSession: $2) }) else { return }
        send(.startChannelSounding)
    }

    /// Stops measuring the distance to the peripheral. Without a session the call is misuse.
    open func cancelChannelSoundingSession() {
        guard canCommand() else { return }
        send(.cancelChannelSounding)
    }

    // MARK: Validation

    private typealias Refusal = @Sendable (any CBPeripheralDelegate, CBPeripheral, any Error) -> Void

    /// Notes an event that no delegate and no stream receives, while something listens for advice.
    func noteLoss(of event: PeerEvent) {
        guard CallSites.isRecording, delegate == nil, updates.isEmpty else { return }
        switch event {
        // The manager's delegate receives these, or nothing does.
        case .connected, .connectionFailed, .disconnected, .notificationsAuthorized, .linkInformation,
            .maximumWriteLengthChanged, .writeCreditsReturned:
            break
        default: link.note(.eventWithoutDelegate(identifier))
        }
    }

    /// Whether the peripheral is connected. If it is not, logs misuse, and the command is to be ignored
    /// (behaviour 1.7). In strict mode, also reports the error to the delegate.
    private func canCommand(_ sendCommand: @escaping Refusal = { _, _, _ in }, _ command: String = #function) -> Bool {
        let isRestoring = self.isRestoring
        if state == .connected, !isRestoring { return true }
        let text =
            isRestoring
            ? "\(self) can only accept commands once its manager is in the powered on state: \(command)"
            : "\(self) can only accept commands while in the connected state: \(command)"
        link.report(text)
        guard Misuse.isStrict else { return false }
        link.callBack { [weak self] in
            if let self, let delegate { sendCommand(delegate, self, Misuse.error(.notConnected, text)) }
        }
        return false
    }

    /// Returns the handle of an attribute of this peripheral.
    ///
    /// For an attribute that was invalidated or belongs to another peripheral the result is handle 0, which no server
    /// has (Core Vol 3 Part F 3.2.2). The request then fails in its turn, as it should (behaviour 4.16).
    private func handle(of attribute: CBAttribute, for kind: PendingRequests.Kind) -> AttributeHandle {
        let handle: AttributeHandle = contents.withLock {
            let handle = $0.tree.contains(attribute) ? attribute.handle : 0
            $0.pending.add(attribute, kind, at: handle)
            return handle
        }
        if handle == 0 { link.report("\(attribute) is no longer part of \(self); discover it again") }
        return handle
    }

    override func value(named name: String) -> Any?? {
        switch name {
        case "name": .some(self.name)
        case "RSSI": .some(rssi)
        case "state": state.rawValue
        case "services": .some(services)
        case "canSendWriteWithoutResponse": canSendWriteWithoutResponse
        case "ancsAuthorized": ancsAuthorized
        default: super.value(named: name)
        }
    }

    /// The class, identifier, name, ATT MTU and state.
    open override var description: String {
        let (name, state, length) = contents.withLock { ($0.name, $0.state, $0.maximumWriteLength) }
        let mtu = state == .connected ? length + 3 : 0
        return "<\(nameAndAddress), identifier = \(identifier.uuidString), name = \(name ?? "(null)"), mtu = \(mtu), "
            + "state = \(state.name ?? "unknown")>"
    }
}

extension CBPeripheralState {
    /// The name of the state; nil for a number without one.
    package var name: String? {
        switch self {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .disconnecting: "disconnecting"
        default: nil
        }
    }
}

/// The connection to the service, and what other modules of this package attach.
extension CBPeripheral {
    /// Returns the object that another module of this package attaches to this peripheral, after creating it on first
    /// use.
    package func annex<Content: AnyObject & Sendable>(_ make: () -> Content) -> Content { attachment.content(make) }

    /// Whether the manager was restored and its first state has not arrived (behaviour 10.11).
    var isRestoring: Bool { registry.isRestoring.load(ordering: .acquiring) }

    func send(_ request: PeerRequest) { link.send(request, of: identifier) }

    func send(_ request: LinkRequest) { link.send(request, of: identifier) }

    /// Returns the service's reply to a query, or nil if there is none.
    package func reply(to query: Query) -> Reply? { try? link.ask(query).get() }

    /// Creates the object for a channel that was opened.
    package func takeOver(_ channel: ChannelID, psm: CBL2CAPPSM) -> CBL2CAPChannel {
        CBL2CAPChannel(channel, psm: psm, peer: self, link: link)
    }

    /// Closes a channel that was opened but is no longer wanted.
    package func refuse(_ channel: ChannelID) { link.send(.close, on: channel) }

    /// Calls `body` on the manager's queue after a delay, by the clock of the service.
    ///
    /// - Returns: A function that cancels the call.
    package func callBack(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        link.callBack(after: delay, body)
    }
}
