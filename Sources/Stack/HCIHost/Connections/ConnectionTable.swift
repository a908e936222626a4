import BluetoothTypes
import EventLoops
import HCI

/// The connections of a controller: their data paths, and the state that events change.
///
/// Rejects events for unknown connections, a second Connection Complete for the same handle, and encryption without a
/// key from this host (AB-H05).
final class ConnectionTable {
    /// The maximum number of connections, which is more than any controller supports. Further ones are rejected.
    static let maximumConnections = 256

    /// The result of handling an event.
    enum Outcome {
        /// The event changes no connection, or the change has been stored.
        case noted
        /// The event contradicts the host's state and must not be delivered to subscribers.
        case rejected
        case connected(HCIConnection, early: [ACLPacket])
        case connectionFailed(HCIStatus)
        case disconnected(HCIConnection, HCIStatus)
        case encryption(HCIConnection, EncryptionReport)
        case longTermKeyRequest(HCIConnection, LELongTermKeyRequest)
        case authenticatedPayloadTimeout(HCIConnection)
    }

    private let loop: any EventLoop
    private let sender: ACLSender
    private let transmit: (HCIPacket) -> Void
    private var credits = HostCredits()
    private var creditTimer: ScheduledTask?
    /// The connections by the value of their handle. Every packet looks one up, and an integer hashes fastest.
    private(set) var connections: [UInt16: HCIConnection] = [:]
    private var early = EarlyPackets()
    /// Called when the encryption of a link was not confirmed while data that counts as encrypted waited for it.
    var onUnproven: ((HCIConnection) -> Void)?
    private(set) var counters = HCICounters()

    init(loop: any EventLoop, transmit: @escaping (HCIPacket) -> Void) {
        self.loop = loop
        self.transmit = transmit
        sender = ACLSender(loop: loop, transmit: transmit)
    }

    /// Called when data is sent to the controller while nothing watches its progress.
    var onData: (() -> Void)? {
        get { sender.onData }
        set { sender.onData = newValue }
    }
    /// Called when the controller returns buffers after data of a link has been in the controller for too long.
    var onProgress: (() -> Void)?
    private var hasStalled = false

    /// Returns the links whose data has been in the controller since `instant` or earlier, in the order of their
    /// handles, and restarts their time-outs.
    func takeStalled(since instant: Instant) -> [HCIConnection] {
        let stalled = connections.values.filter { $0.outbox.isStalled(since: instant) }
        if !stalled.isEmpty { hasStalled = true }
        for connection in stalled { connection.outbox.noteStall(at: loop.now) }
        return stalled.sorted { $0.handle.rawValue < $1.handle.rawValue }
    }

    /// Whether a link ended with data that had been in the controller since `instant` or earlier and was not reported
    /// as stalled before.
    func leftData(_ connection: HCIConnection, since instant: Instant) -> Bool {
        guard connection.outbox.hasLeftData(since: instant) else { return false }
        hasStalled = true
        return true
    }

    /// The start of the longest current wait of a link for its buffers; nil if the controller holds no data.
    var oldestWait: Instant? { connections.values.map(\.outbox).filter { $0.outstanding > 0 }.map(\.waitsSince).min() }

    /// Calls ``onData`` with the next data, because the controller holds none.
    func endWatch() {
        sender.endWatch()
    }

    func count(_ counter: WritableKeyPath<HCICounters, Int>) {
        counters[keyPath: counter] += 1
    }

    deinit {
        for connection in connections.values { connection.close() }
    }

    /// The number of free buffers in the controller, by the host's count.
    var freeBuffers: Int { sender.freeBuffers }

    /// Starts over with a controller that has `capacity` buffers of `packetSize` octets.
    ///
    /// - Parameters:
    ///   - packetSize: The size of a buffer, in octets.
    ///   - capacity: The number of buffers.
    ///   - hostBuffers: The host buffers announced to the controller; nil if host flow control is off.
    /// - Returns: The connections that existed, in the order of their handles.
    func reset(packetSize: Int, capacity: Int, hostBuffers: HostBuffers? = nil) -> [HCIConnection] {
        let gone = connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
        connections = [:]
        early.removeAll()
        credits.reset(hostBuffers)
        stopCreditTimer()
        hasStalled = false
        sender.reset(packetSize: packetSize, capacity: capacity)
        for connection in gone { connection.close() }
        return gone
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each packet of the controller.
    private var brokenInvariant: String? {
        guard connections.count <= Self.maximumConnections else { return "too many connections" }
        guard connections.allSatisfy({ $0 == $1.handle.rawValue && $1.isOpen }) else {
            return "a handle belongs to a connection that has ended, or to another one"
        }
        guard early.handles.allSatisfy({ connections[$0.rawValue] == nil }) else {
            return "data wait for a connection that is known"
        }
        guard !credits.isPending || creditTimer != nil else { return "consumed packets are never reported" }
        return credits.brokenInvariant(with: connections.keys)
            ?? sender.brokenInvariant(for: connections.values.map(\.outbox))
    }

    // MARK: Data

    func receive(_ bytes: PacketBuffer) throws(PacketError) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let packet = try ACLPacket(reading: bytes)
        guard !packet.payload.isEmpty else {
            // The controller has counted the empty packet as well.
            if connections[packet.handle.rawValue] != nil { consumed(1, of: packet.handle) }
            throw PacketError(.length(0), at: "ACL data")
        }
        guard packet.broadcast == 0, packet.handle.rawValue <= ConnectionHandle.maximum.rawValue else {
            throw PacketError(.value(UInt64(packet.handle.rawValue)), at: "ACL header")
        }
        if let connection = connections[packet.handle.rawValue] {
            deliverOrHold(packet, to: connection)
        } else if !early.add(packet, at: loop.now) {
            counters.droppedPackets += 1
        }
    }

    func deliver(_ packet: ACLPacket, to connection: HCIConnection) {
        guard connection.isOpen else { return }
        if connection.receive(packet), connection.isOpen { consumed(1, of: connection.handle) }
    }

    /// Records packets that the host has consumed, and reports them to the controller when due.
    private func consumed(_ count: Int, of handle: ConnectionHandle) {
        for _ in 0..<count {
            switch credits.consumed(handle) {
            case .wait: break
            case .report: reportCredits()
            case .startTimer:
                stopCreditTimer()
                creditTimer = loop.schedule(after: HostCredits.maximumDelay) { [weak self] in
                    self?.creditTimer = nil
                    self?.reportCredits()
                }
            }
        }
    }

    private func reportCredits() {
        stopCreditTimer()
        if let report = credits.take() { transmit(HCIPacket(report)) }
    }

    private func stopCreditTimer() {
        if let creditTimer = creditTimer.take() { loop.cancel(creditTimer) }
    }

    /// Returns the buffers of completed packets. Parsed by hand, and validated as a whole before anything changes
    /// (AB-H01).
    func completedPackets(_ parameters: PacketBuffer) throws(PacketError) {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let count = Int(parameters.first ?? 0)
        guard parameters.count >= 1 + 4 * count else {
            throw PacketError(.truncated(needed: 1 + 4 * count, available: parameters.count), at: "Num_Handles")
        }
        for index in 0..<count {
            let offset = 1 + 4 * index
            let handle = UInt16(parameters[offset]) | UInt16(parameters[offset + 1]) << 8
            let packets = Int(parameters[offset + 2]) | Int(parameters[offset + 3]) << 8
            guard let connection = connections[handle & 0xFFF] else {
                counters.unknownHandles += 1
                continue
            }
            if !sender.complete(packets, of: connection.outbox) { counters.clampedCredits += 1 }
            guard packets > 0 else { continue }
            connection.outbox.noteProgress(at: loop.now)
            if hasStalled {
                hasStalled = false
                onProgress?()
            }
        }
        sender.pump()
    }

    // MARK: Data that arrives before the event that reports the encryption of its link

    /// Delivers a packet to its connection, unless it must wait for the event.
    private func deliverOrHold(_ packet: ACLPacket, to connection: HCIConnection) {
        switch connection.encryption.hold.receive(packet, at: loop.now) {
        case .deliver: deliver(packet, to: connection)
        case .held: armHoldTimer(connection)
        case .tooMany: giveUp(connection)
        }
    }

    /// Delivers the packets that were held. Called after the callbacks for the outcome have run.
    func release(_ connection: HCIConnection) {
        connection.stopHoldTimer(on: loop)
        for packet in connection.encryption.hold.end() { deliver(packet, to: connection) }
    }

    private func armHoldTimer(_ connection: HCIConnection) {
        connection.armHoldTimer(on: loop) { [weak self, weak connection] in
            guard let self, let connection else { return }
            guard let old = connection.encryption.hold.expire(at: loop.now) else { return giveUp(connection) }
            for packet in old { deliver(packet, to: connection) }
            armHoldTimer(connection)
        }
    }

    private func giveUp(_ connection: HCIConnection) {
        connection.stopHoldTimer(on: loop)
        counters.unprovenLinks += 1
        _ = connection.encryption.hold.expire(at: loop.now)
        onUnproven?(connection)
    }

    // MARK: Events

    func handle(_ packet: EventPacket) throws(PacketError) -> Outcome {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        let parameters = packet.eventParameters
        switch (packet.code, packet.subevent) {
        case (DisconnectionComplete.eventCode, nil): return try disconnected(.reading(parameters))
        case (EncryptionChange.eventCode, nil):
            let event = try EncryptionChange.reading(parameters)
            return encryptionChanged(event.status, event.handle, event.state, keySize: nil)
        case (EncryptionChangeV2.eventCode, nil):
            let event = try EncryptionChangeV2.reading(parameters)
            return encryptionChanged(event.v1.status, event.v1.handle, event.v1.state, keySize: Int(event.keySize))
        case (EncryptionKeyRefreshComplete.eventCode, nil): return try keyRefreshed(.reading(parameters))
        case (AuthenticatedPayloadTimeoutExpired.eventCode, nil):
            let event = try AuthenticatedPayloadTimeoutExpired.reading(parameters)
            return connections[event.handle.rawValue].map { .authenticatedPayloadTimeout($0) } ?? unknown()
        case (.leMeta, LEConnectionComplete.subevent):
            return connected(LEEnhancedConnectionComplete(try LEConnectionComplete.reading(parameters)))
        case (.leMeta, LEEnhancedConnectionComplete.subevent):
            return connected(try LEEnhancedConnectionComplete.reading(parameters))
        case (.leMeta, LEEnhancedConnectionCompleteV2.subevent):
            return connected(try LEEnhancedConnectionCompleteV2.reading(parameters).v1)
        case (.leMeta, LELongTermKeyRequest.subevent):
            let event = try LELongTermKeyRequest.reading(parameters)
            return connections[event.handle.rawValue].map { .longTermKeyRequest($0, event) } ?? unknown()
        case (.leMeta, LERemoteConnectionParameterRequest.subevent):
            return update(try LERemoteConnectionParameterRequest.reading(parameters).handle, .success) { _ in }
        default: return try changed(packet)
        }
    }

    private func changed(_ packet: EventPacket) throws(PacketError) -> Outcome {
        let parameters = packet.eventParameters
        switch (packet.code, packet.subevent) {
        case (.leMeta, LEConnectionUpdateComplete.subevent):
            let event = try LEConnectionUpdateComplete.reading(parameters)
            return update(event.handle, event.status) { $0.apply(event) }
        case (.leMeta, LESubrateChange.subevent):
            let event = try LESubrateChange.reading(parameters)
            return update(event.handle, event.status) { $0.apply(event) }
        case (.leMeta, LEPHYUpdateComplete.subevent):
            let event = try LEPHYUpdateComplete.reading(parameters)
            return update(event.handle, event.status) { $0.apply(event) }
        case (.leMeta, LEDataLengthChange.subevent):
            let event = try LEDataLengthChange.reading(parameters)
            return update(event.handle, .success) { $0.apply(event) }
        default: return .noted
        }
    }

    /// Called before a command is sent. Records a key that this host gives the controller.
    func note(_ command: some HCICommand) {
        guard let connection = receiver(of: command) else { return }
        connection.encryption.noteKey(asPeripheral: connection.role == .peripheral)
    }

    /// Called when the controller has accepted the command. A central's controller begins to encrypt at this point.
    func noteAccepted(_ command: some HCICommand) {
        guard let connection = receiver(of: command), connection.role == .central else { return }
        connection.encryption.noteKeyAccepted(interval: connection.interval)
    }

    /// Called when the controller has refused the command. Keys that it accepted before still count.
    func noteRefusal(of command: some HCICommand) {
        if let connection = receiver(of: command), connection.encryption.noteKeyRefused() { release(connection) }
    }

    /// Returns the link for which a command gives a key, or nil.
    private func receiver(of command: some HCICommand) -> HCIConnection? {
        switch command {
        case let command as LEEnableEncryption: connections[command.handle.rawValue]
        case let command as LELongTermKeyRequestReply: connections[command.handle.rawValue]
        default: nil
        }
    }

    private func connected(_ event: LEEnhancedConnectionComplete) -> Outcome {
        guard event.status == .success else { return .connectionFailed(event.status) }
        guard event.handle.rawValue <= ConnectionHandle.maximum.rawValue, connections.count < Self.maximumConnections
        else {
            counters.malformed += 1
            return .rejected
        }
        guard connections[event.handle.rawValue] == nil else {
            counters.duplicateConnections += 1
            return .rejected
        }
        let connection = HCIConnection(event, sender: sender) { [weak self] in
            self?.consumed($0, of: event.handle)
        }
        connections[event.handle.rawValue] = connection
        sender.add(connection.outbox)
        return .connected(connection, early: early.take(event.handle, at: loop.now))
    }

    private func disconnected(_ event: DisconnectionComplete) -> Outcome {
        guard event.status == .success else { return .noted }
        // Buffered data must not reach the next connection with this handle.
        _ = early.take(event.handle, at: loop.now)
        credits.forget(event.handle)
        guard let connection = connections.removeValue(forKey: event.handle.rawValue) else { return unknown() }
        connection.close()
        sender.remove(connection.outbox)
        return .disconnected(connection, event.reason)
    }

    private func encryptionChanged(
        _ status: HCIStatus,
        _ handle: ConnectionHandle,
        _ state: EncryptionState,
        keySize: Int?
    ) -> Outcome {
        guard let connection = connections[handle.rawValue] else { return unknown() }
        return outcome(of: connection.encryption.changed(status, state, keySize: keySize), connection)
    }

    private func keyRefreshed(_ event: EncryptionKeyRefreshComplete) -> Outcome {
        guard let connection = connections[event.handle.rawValue] else { return unknown() }
        return outcome(of: connection.encryption.refreshed(event.status), connection)
    }

    private func outcome(of report: EncryptionReport?, _ connection: HCIConnection) -> Outcome {
        if let report { return .encryption(connection, report) }
        counters.unexpectedEncryption += 1
        return .rejected
    }

    private func update(
        _ handle: ConnectionHandle,
        _ status: HCIStatus,
        _ change: (HCIConnection) -> Void
    ) -> Outcome {
        guard let connection = connections[handle.rawValue] else { return unknown() }
        if status == .success {
            change(connection)
            connection.onChange?()
        }
        return .noted
    }

    private func unknown() -> Outcome {
        counters.unknownHandles += 1
        return .rejected
    }
}

extension LEEnhancedConnectionComplete {
    /// Converts the event to the enhanced form, without resolvable private addresses.
    init(_ event: LEConnectionComplete) {
        self.init {
            $0.status = event.status
            $0.handle = event.handle
            $0.role = event.role
            $0.peerAddress = event.peerAddress
            $0.interval = event.interval
            $0.latency = event.latency
            $0.supervisionTimeout = event.supervisionTimeout
            $0.centralClockAccuracy = event.centralClockAccuracy
        }
    }
}
