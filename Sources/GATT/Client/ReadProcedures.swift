import ATT
import BluetoothTypes

/// Read Characteristic Value and Read Long Characteristic Values combined (Core Vol 3 Part G 4.8.1, 4.8.3; behaviour
/// 5.2). Blob requests follow while responses are full.
struct ReadProcedure: GATTProcedure {
    static let onlyReads = true

    private let handle: UInt16
    private let offset: UInt16?
    private var value = PacketBuffer(headroom: 0)
    private var isFirst = true

    /// Reads a complete value, or the part from `offset` on.
    init(_ handle: UInt16, offset: UInt16? = nil) {
        self.handle = handle
        self.offset = offset
    }

    mutating func begin(mtu: Int) -> GATTStep<PacketBuffer> {
        guard let offset else { return .request(.readRequest(ATTReadRequest(handle: handle))) }
        return .request(.readBlobRequest(ATTReadBlobRequest(handle: handle, offset: offset)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<PacketBuffer> {
        let part: PacketBuffer
        switch response {
        case .readResponse(let response): part = response.value
        case .readBlobResponse(let response): part = response.value
        default: return .fault(.unexpectedResponse)
        }
        // A short value is a slice of the packet; only long values are assembled.
        if isFirst, part.count < mtu - 1 { return .finished(part) }
        isFirst = false
        value.append(contentsOf: part)
        // Limits a value that the server never ends to the maximum length.
        let longest = max(0, ATTBearer.maximumAttributeLength - Int(offset ?? 0))
        guard part.count == mtu - 1, value.count < longest else { return .finished(value.prefix(upTo: longest)) }
        let next = (offset ?? 0) + UInt16(value.count)
        return .request(.readBlobRequest(ATTReadBlobRequest(handle: handle, offset: next)))
    }

    /// Ends the value. If it fills its responses exactly, the server may refuse the next blob request (Vol 3 Part F
    /// 3.4.4.5).
    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<PacketBuffer> {
        let isEnd = error.code == .attributeNotLong || error.code == .invalidOffset
        return isEnd && !isFirst ? .finished(value) : .failed(.att(error))
    }
}

/// Read Using Characteristic UUID (Core Vol 3 Part G 4.8.2), over a whole range or for a value that occurs once.
struct ReadByTypeProcedure: GATTProcedure {
    static let onlyReads = true

    private let uuid: BluetoothUUID
    private let isOne: Bool
    private var range: SearchRange
    private var values: [RemoteValue] = []

    /// - Parameter isOne: Whether the first response is enough.
    init(_ uuid: BluetoothUUID, in handles: ClosedRange<UInt16>, isOne: Bool = false) {
        self.uuid = uuid
        self.isOne = isOne
        range = SearchRange(handles)
    }

    mutating func begin(mtu: Int) -> GATTStep<[RemoteValue]> {
        .request(.readByTypeRequest(.init(range.handles, type: uuid)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<[RemoteValue]> {
        guard case .readByTypeResponse(let response) = response else { return .fault(.unexpectedResponse) }
        for entry in response.entries {
            if let fault = range.pass(entry.handle) { return .fault(fault) }
            guard values.count < GATTClient.maximumCharacteristics else {
                return .fault(.tooMany(limit: GATTClient.maximumCharacteristics))
            }
            values.append(RemoteValue(handle: entry.handle, value: entry.value))
        }
        return isOne || range.isDone ? .finished(values) : begin(mtu: mtu)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<[RemoteValue]> {
        error.code == .attributeNotFound && !values.isEmpty ? .finished(values) : .failed(.att(error))
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
        guard let hash = DatabaseHash(entry.value) else { return .fault(.malformedDeclaration(at: entry.handle)) }
        return .finished(hash)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<DatabaseHash?> {
        error.code == .attributeNotFound ? .finished(nil) : .failed(.att(error))
    }
}
