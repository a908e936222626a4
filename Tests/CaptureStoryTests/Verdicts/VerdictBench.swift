import BluetoothTypes

@testable import HCI

/// What hosts, controllers and peers do in the captures that verdicts are tested with.
extension CaptureBench {
    static let second: Int64 = 1_000_000
    /// The attribute protocol's channel, that of the signals and that of the Security Manager.
    private static let (attributes, signals, security) = (UInt16(4), UInt16(5), UInt16(6))

    // MARK: Controllers

    /// Adds a command by its opcode.
    mutating func command(_ opcode: UInt16, _ parameters: [UInt8] = [], after time: Int64 = 1_000) {
        let header = [UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)]
        add(HCIPacket(.command, PacketBuffer(header + parameters)), .hostToController, after: time)
    }

    /// Adds an event by its code.
    mutating func event(_ code: UInt8, _ parameters: [UInt8], after time: Int64 = 1_000) {
        let header = [code, UInt8(parameters.count)]
        add(HCIPacket(.event, PacketBuffer(header + parameters)), .controllerToHost, after: time)
    }

    /// Adds a command with its Command Complete.
    mutating func complete(_ opcode: UInt16, _ parameters: [UInt8] = [], status: UInt8 = 0) {
        command(opcode, parameters)
        event(0x0E, [1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), status])
    }

    /// Adds a command with its Command Status.
    mutating func status(_ opcode: UInt16, _ parameters: [UInt8] = [], status: UInt8 = 0) {
        command(opcode, parameters)
        event(0x0F, [status, 1, UInt8(opcode & 0xFF), UInt8(opcode >> 8)])
    }

    mutating func reset() { complete(0x0C03) }
    mutating func scan(_ isOn: Bool, status: UInt8 = 0) { complete(0x200C, [isOn ? 1 : 0, 1], status: status) }

    mutating func advertise(_ isOn: Bool, kind: UInt8 = 0, status: UInt8 = 0) {
        if isOn { complete(0x2006, [0, 8, 0, 8, kind] + [UInt8](repeating: 0, count: 10)) }
        complete(0x200A, [isOn ? 1 : 0], status: status)
    }

    // MARK: Links

    /// Adds a request to connect to a peer, or to any device of the filter accept list.
    mutating func attempt(_ peer: BluetoothAddress? = Self.peer, status: UInt8 = 0) {
        let address = peer.map { [$0.kind.rawValue] + $0.littleEndianBytes } ?? [UInt8](repeating: 0, count: 7)
        let rest: [UInt8] = [0, 24, 0, 24, 0, 0, 0, 72, 0, 0, 0, 0, 0]
        self.status(0x200D, [96, 0, 48, 0, peer == nil ? 1 : 0] + address + rest, status: status)
    }

    /// Adds the end of a request to connect without a connection.
    mutating func attemptEnds(_ status: HCIStatus, after time: Int64 = 1_000) {
        var complete = LEConnectionComplete()
        complete.status = status
        event(complete, after: time)
    }

    /// Adds a connection as the peripheral.
    mutating func accept(_ peer: BluetoothAddress = Self.peer) {
        event(
            LEConnectionComplete {
                $0.handle = Self.handle
                $0.role = .peripheral
                $0.peerAddress = peer
                $0.interval = 24
                $0.supervisionTimeout = 72
                $0.centralClockAccuracy = .ppm500
            }
        )
    }

    /// Adds the request and the connection as the central.
    mutating func connectAsAsked(_ peer: BluetoothAddress = Self.peer) {
        attempt(peer)
        wait(50_000)
        connect(peer)
    }

    /// Adds Disconnect, and the end of the link.
    mutating func leave(after time: Int64 = Self.second, reason: HCIStatus = .localHostTerminated) {
        wait(time)
        status(0x0406, [0x40, 0, 0x13])
        disconnect(reason)
    }

    /// Adds the end of the link after a while.
    mutating func ends(_ reason: HCIStatus, after time: Int64 = Self.second) {
        wait(time)
        disconnect(reason)
    }

    // MARK: Attributes

    mutating func att(_ octets: [UInt8], isSent: Bool = true, after time: Int64 = 30_000) {
        pdu(Self.attributes, octets, isSent: isSent, after: time)
    }

    mutating func read(_ handle: UInt8 = 3, error: UInt8? = nil) {
        request([0x0A, handle, 0], error.map { [0x01, 0x0A, handle, 0, $0] } ?? [0x0B, 80])
    }

    mutating func write(_ handle: UInt8 = 3, error: UInt8? = nil) {
        request([0x12, handle, 0, 9], error.map { [0x01, 0x12, handle, 0, $0] } ?? [0x13])
    }

    /// Discovers one service with one characteristic, its value with handle 3, and its configuration with handle 4.
    mutating func discover(_ value: UInt16 = 0x2A37, properties: UInt8 = 0x12) {
        request([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28], [0x11, 6, 1, 0, 5, 0, 0x0D, 0x18])
        request([0x10, 6, 0, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 6, 0, 0x0A])
        let type = [UInt8(value & 0xFF), UInt8(value >> 8)]
        request([0x08, 1, 0, 5, 0, 0x03, 0x28], [0x09, 7, 2, 0, properties, 3, 0] + type)
        request([0x08, 3, 0, 5, 0, 0x03, 0x28], [0x01, 0x08, 3, 0, 0x0A])
        request([0x04, 4, 0, 5, 0], [0x05, 1, 4, 0, 0x02, 0x29])
    }

    mutating func subscribe() { request([0x12, 4, 0, 1, 0], [0x13]) }
    mutating func notify(after time: Int64 = Self.second) { att([0x1B, 3, 0, 0, 77], isSent: false, after: time) }

    // MARK: Security

    mutating func smp(_ octets: [UInt8], isSent: Bool, after time: Int64 = 30_000) {
        pdu(Self.security, octets, isSent: isSent, after: time)
    }

    /// Adds the features of LE Secure Connections: passkey entry, or else Just Works.
    mutating func beginPairing(passkey: Bool = false, keySize: UInt8 = 16) {
        smp([1, passkey ? 4 : 3, 0, passkey ? 0x0D : 0x09, 16, 3, 3], isSent: true)
        smp([2, passkey ? 2 : 3, 0, passkey ? 0x0D : 0x09, keySize, 3, 3], isSent: false)
    }

    mutating func enableEncryption() { status(0x2019, [0x40, 0] + [UInt8](repeating: 0, count: 26)) }

    mutating func encryptionChanges(_ status: UInt8 = 0, keySize: UInt8? = nil, after time: Int64 = 60_000) {
        let size = keySize.map { [$0] } ?? []
        event(keySize == nil ? 0x08 : 0x59, [status, 0x40, 0, status == 0 ? 1 : 0] + size, after: time)
    }

    mutating func pair() {
        beginPairing()
        enableEncryption()
        encryptionChanges()
    }

    // MARK: Signals

    mutating func signal(_ code: UInt8, _ data: [UInt8], isSent: Bool, after time: Int64 = 30_000) {
        pdu(Self.signals, [code, 1, UInt8(data.count), 0] + data, isSent: isSent, after: time)
    }

    mutating func asksForParameters(isAccepted: Bool) {
        signal(0x12, [6, 0, 12, 0, 0, 0, 200, 0], isSent: false)
        signal(0x13, [isAccepted ? 0 : 1, 0], isSent: true)
    }

    mutating func openChannel(result: UInt8) {
        signal(0x14, [0x80, 0, 0x40, 0, 64, 0, 64, 0, 8, 0], isSent: true)
        signal(0x15, [0x41, 0, 64, 0, 64, 0, 8, 0, result, 0], isSent: false)
    }
}
