import ATT
import BluetoothTypes

/// Read Characteristic Value and Read Long Characteristic Values combined (Core Vol 3 Part G 4.8.1, 4.8.3; behaviour
/// 5.2). Blob requests follow while responses are full.
struct ReadProcedure: GATTProcedure {
    static let onlyReads = true

    private let handle: UInt16
    private let offset: UInt16?
    private var value: PacketBuffer
    private var isFirst: Bool
    /// The MTU when the pending request was sent. The server may respond before or after a change of the MTU.
    private var mtu = 0

    /// Reads a complete value, or the part from `offset` on.
    init(_ handle: UInt16, offset: UInt16? = nil) {
        self.handle = handle
        self.offset = offset
        value = PacketBuffer(headroom: 0)
        isFirst = true
    }

    /// Reads what follows the part `first` of a value.
    init(_ handle: UInt16, after first: PacketBuffer) {
        self.handle = handle
        offset = nil
        value = first
        isFirst = false
    }

    mutating func begin(mtu: Int) -> GATTStep<PacketBuffer> {
        self.mtu = mtu
        guard isFirst, offset == nil else { return blob() }
        return .request(.readRequest(ATTReadRequest(handle: handle)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<PacketBuffer> {
        let part: PacketBuffer
        switch response {
        case .readResponse(let response): part = response.value
        case .readBlobResponse(let response): part = response.value
        default: return .fault(.unexpectedResponse)
        }
        let isFull = part.count >= min(mtu, self.mtu) - 1
        self.mtu = mtu
        // A short value is a slice of the packet; only long values are assembled.
        if isFirst, !isFull { return .finished(part) }
        isFirst = false
        value.append(contentsOf: part)
        // Limits a value that the server never ends to the maximum length.
        let longest = max(0, ATTBearer.maximumAttributeLength - Int(offset ?? 0))
        return isFull && value.count < longest ? blob() : .finished(value.prefix(upTo: longest))
    }

    /// Fails, so that no part counts as the whole value, unless the server says that the value is not long, and the
    /// part has all that a value that is not long can have (Vol 3 Part F 3.4.4.5).
    ///
    /// The end of a value is a part that is not full, or is empty. Invalid Offset is none: the offset is never larger
    /// than what the server has sent.
    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<PacketBuffer> {
        let length = Int(offset ?? 0) + value.count
        let isEnd = error.code == .attributeNotLong && !isFirst && length <= max(mtu, self.mtu) - 1
        return isEnd ? .finished(value) : .failed(.att(error))
    }

    private func blob() -> GATTStep<PacketBuffer> {
        let next = Int(offset ?? 0) + value.count
        return .request(.readBlobRequest(ATTReadBlobRequest(handle: handle, offset: UInt16(clamping: next))))
    }
}

/// Read Using Characteristic UUID (Core Vol 3 Part G 4.8.2).
struct ReadByTypeProcedure: GATTProcedure {
    static let onlyReads = true

    private let uuid: BluetoothUUID
    private var range: SearchRange
    private var values: [RemoteValue] = []
    private(set) var flaws = TableFlaws()

    init(_ uuid: BluetoothUUID, in handles: ClosedRange<UInt16>) {
        self.uuid = uuid
        range = SearchRange(handles)
    }

    mutating func begin(mtu: Int) -> GATTStep<[RemoteValue]> {
        .request(.readByTypeRequest(.init(range.handles, type: uuid)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[RemoteValue]> {
        guard case .readByTypeResponse(let response) = response else { return .fault(.unexpectedResponse) }
        for entry in response.entries {
            guard range.pass(entry.handle) else {
                flaws.add(.outsideOfRequest, at: entry.handle)
                continue
            }
            guard values.count < GATTClient.maximumCharacteristics else {
                return .fault(.tooMany(limit: GATTClient.maximumCharacteristics))
            }
            values.append(RemoteValue(handle: entry.handle, value: entry.value))
        }
        if let fault = range.endResponse() { return .fault(fault) }
        return range.isDone ? .finished(values) : begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[RemoteValue]> {
        error.code == .attributeNotFound && !values.isEmpty ? .finished(values) : .failed(.att(error))
    }
}

/// Reads a value by a type of which a server has at most one instance (Core Vol 3 Part G 4.8.2). Blob requests follow
/// if the response has no room for all of it. Completes with nil if there is none.
struct ReadOneProcedure: GATTProcedure {
    static let onlyReads = true

    private let uuid: BluetoothUUID
    private var handle: UInt16?
    private var rest: ReadProcedure?

    init(_ uuid: BluetoothUUID) {
        self.uuid = uuid
    }

    mutating func begin(mtu: Int) -> GATTStep<RemoteValue?> {
        .request(.readByTypeRequest(.init(ATTHandleRange(1, .max), type: uuid)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<RemoteValue?> {
        if rest != nil { return follow(rest?.handle(response, mtu: mtu)) }
        guard case .readByTypeResponse(let response) = response, let entry = response.entries.first else {
            return .fault(.unexpectedResponse)
        }
        handle = entry.handle
        guard entry.value.count >= min(mtu - 4, ATTReadByTypeResponse.maximumValue) else {
            return follow(.finished(entry.value))
        }
        rest = ReadProcedure(entry.handle, after: entry.value)
        return follow(rest?.begin(mtu: mtu))
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<RemoteValue?> {
        if rest != nil { return follow(rest?.handle(error, mtu: mtu)) }
        return error.code == .attributeNotFound ? .finished(nil) : .failed(.att(error))
    }

    private func follow(_ step: GATTStep<PacketBuffer>?) -> GATTStep<RemoteValue?> {
        switch step {
        case .request(let pdu): .request(pdu)
        case .failed(let error): .failed(error)
        case .finished(let value): .finished(handle.map { RemoteValue(handle: $0, value: value) })
        case nil: .fault(.unexpectedResponse)
        }
    }
}

/// Read Multiple Characteristic Values (Core Vol 3 Part G 4.8.4).
struct ReadMultipleProcedure: GATTProcedure {
    static let onlyReads = true

    let handles: [UInt16]

    mutating func begin(mtu: Int) -> GATTStep<PacketBuffer> {
        .request(.readMultipleRequest(ATTReadMultipleRequest(handles: handles)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<PacketBuffer> {
        guard case .readMultipleResponse(let response) = response else { return .fault(.unexpectedResponse) }
        return .finished(response.values)
    }
}

/// Read Multiple Variable Length Characteristic Values (Core Vol 3 Part G 4.8.5).
struct ReadMultipleVariableProcedure: GATTProcedure {
    static let onlyReads = true

    let handles: [UInt16]

    mutating func begin(mtu: Int) -> GATTStep<[PacketBuffer]> {
        .request(.readMultipleVariableRequest(ATTReadMultipleVariableRequest(handles: handles)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[PacketBuffer]> {
        guard case .readMultipleVariableResponse(let response) = response, response.entries.count <= handles.count
        else { return .fault(.unexpectedResponse) }
        return .finished(response.entries.map(\.value))
    }
}

/// Reads the Database Hash by type over the whole handle range, which a server never refuses as out of sync (Core Vol 3
/// Part G 2.5.2.1).
struct DatabaseHashProcedure: GATTProcedure {
    static let onlyReads = true

    func isolation(mtu: Int) -> GATTIsolation { .alone }

    mutating func begin(mtu: Int) -> GATTStep<DatabaseHash?> {
        .request(.readByTypeRequest(.init(ATTHandleRange(1, .max), type: GATTUUID.databaseHash)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<DatabaseHash?> {
        guard case .readByTypeResponse(let response) = response, let entry = response.entries.first else {
            return .fault(.unexpectedResponse)
        }
        guard let hash = DatabaseHash(entry.value) else { return .fault(.malformedHash(at: entry.handle)) }
        return .finished(hash)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<DatabaseHash?> {
        error.code == .attributeNotFound ? .finished(nil) : .failed(.att(error))
    }
}
