import ATT
import BluetoothTypes

/// Write Characteristic Value (Core Vol 3 Part G 4.9.3), or a long write if the value does not fit into one request.
struct WriteProcedure: GATTProcedure {
    let handle: UInt16
    let value: PacketBuffer
    // Set for a long value. The MTU is known only when the procedure starts.
    private var long: LongWriteProcedure?

    init(_ handle: UInt16, _ value: PacketBuffer) {
        self.handle = handle
        self.value = value
    }

    func isolation(mtu: Int) -> GATTIsolation { value.count <= mtu - 3 ? .none : .preparesWrites }

    mutating func begin(mtu: Int) -> GATTStep<Void> {
        if value.count <= mtu - 3 {
            return .request(.writeRequest(ATTWriteRequest(handle: handle, value: value)))
        }
        var long = LongWriteProcedure([(handle, value)], checksEcho: false)
        defer { self.long = long }
        return long.begin(mtu: mtu)
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<Void> {
        if long != nil { return long?.handle(response, mtu: mtu) ?? .finished(()) }
        guard case .writeResponse = response else { return .fault(.unexpectedResponse) }
        return .finished(())
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Void> {
        long?.handle(error, mtu: mtu) ?? .failed(.att(error))
    }
}

/// Write Long Characteristic Values and Reliable Writes (Core Vol 3 Part G 4.9.4 and 4.9.5).
///
/// The values are prepared in parts and executed at once. After an error or a wrong echo, all prepared parts are
/// cancelled.
struct LongWriteProcedure: GATTProcedure {
    private enum State {
        /// Parts are being prepared: the index of the value and the offset of the part.
        case preparing(Int, offset: Int)
        case executing
        case cancelling(GATTError)
    }

    private let writes: [(handle: UInt16, value: PacketBuffer)]
    private let checksEcho: Bool
    private var state = State.preparing(0, offset: 0)
    private var sent = ATTPrepareWriteRequest()

    init(_ writes: [(handle: UInt16, value: PacketBuffer)], checksEcho: Bool) {
        self.writes = writes
        self.checksEcho = checksEcho
    }

    func isolation(mtu: Int) -> GATTIsolation { .preparesWrites }

    mutating func begin(mtu: Int) -> GATTStep<Void> {
        guard !writes.isEmpty else { return .finished(()) }
        return prepare(0, offset: 0, mtu: mtu)
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<Void> {
        switch (state, response) {
        case (.preparing(let index, _), .prepareWriteResponse(let echo)):
            if checksEcho, echo != ATTPrepareWriteResponse(sent) {
                return cancel(.server(.wrongEcho(handle: sent.handle, offset: Int(sent.offset))))
            }
            let offset = Int(sent.offset) + sent.value.count
            if offset < writes[index].value.count { return prepare(index, offset: offset, mtu: mtu) }
            if index + 1 < writes.count { return prepare(index + 1, offset: 0, mtu: mtu) }
            state = .executing
            return .request(.executeWriteRequest(ATTExecuteWriteRequest(.write)))
        case (.executing, .executeWriteResponse): return .finished(())
        case (.cancelling(let error), _): return .failed(error)
        default: return .fault(.unexpectedResponse)
        }
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<Void> {
        switch state {
        // If the very first part is refused, nothing is prepared that needs cancelling.
        case .preparing(0, offset: 0), .executing: .failed(.att(error))
        case .preparing: cancel(.att(error))
        case .cancelling(let cause): .failed(cause)
        }
    }

    private mutating func prepare(_ index: Int, offset: Int, mtu: Int) -> GATTStep<Void> {
        state = .preparing(index, offset: offset)
        let (handle, value) = writes[index]
        let part = value.slice(offset..<min(offset + mtu - 5, value.count))
        sent = ATTPrepareWriteRequest(handle: handle, offset: UInt16(clamping: offset), value: part)
        return .request(.prepareWriteRequest(sent))
    }

    private mutating func cancel(_ error: GATTError) -> GATTStep<Void> {
        state = .cancelling(error)
        return .request(.executeWriteRequest(ATTExecuteWriteRequest(.cancel)))
    }
}
