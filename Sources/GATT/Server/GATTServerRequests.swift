import ATT
import BluetoothTypes

/// What the server asks whoever has the values. Everything is called on the loop.
package protocol GATTServerDelegate: AnyObject {
    /// A client reads a value. Answer the request once, now or later; until then the client's next request waits
    /// (behaviour 7.33).
    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest)

    /// A client writes values. Answer the request once, now or later.
    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest)

    /// A client has chosen what it wants to be told of the value at `handle`; at the end of its session that is
    /// nothing (behaviour 7.40).
    func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    )

    /// There is room again after ``GATTServer/update(_:of:for:)`` returned false (behaviour 7.43).
    func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession)

    /// What is to be remembered of a client, if it is bonded, has changed: ``GATTServerSession/record``. At most once in
    /// ``GATTServerSession/recordInterval``, and at the end of a session if something has not been told.
    func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession)
}

extension GATTServerDelegate {
    /// Nothing is remembered.
    package func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession) {}
}

/// A client wants a value, or the part from an offset on.
package struct GATTReadRequest {
    /// The client.
    package let session: GATTServerSession
    /// The attribute.
    package let handle: UInt16
    /// The first octet wanted. An offset past the end is answered with invalid offset (behaviour 7.31).
    package let offset: Int
    let completion: (Result<PacketBuffer, ATTErrorCode>) -> Void

    /// Answers with the octets from the offset on, or with an error. Only the first answer counts.
    package func respond(_ result: Result<PacketBuffer, ATTErrorCode>) {
        completion(result)
    }
}

/// A part of a value to be written.
package struct GATTWrite: Hashable, Sendable {
    /// The attribute.
    package var handle: UInt16
    /// Where the part begins in the value.
    package var offset: Int
    /// The octets.
    package var value: PacketBuffer

    /// A part of a value.
    package init(handle: UInt16, offset: Int = 0, value: PacketBuffer) {
        self.handle = handle
        self.offset = offset
        self.value = value
    }
}

/// A client writes: one value, or everything that it had prepared (behaviour 7.34). All or nothing (behaviour 7.35).
package struct GATTWriteRequest {
    /// The client.
    package let session: GATTServerSession
    /// The parts, in order; at least one.
    package let writes: [GATTWrite]
    /// Whether the client waits for the answer; otherwise answering does nothing (behaviour 7.36).
    package let expectsResponse: Bool
    let completion: (ATTErrorCode?, UInt16?) -> Void

    /// Answers that all parts were taken, or none, for the given reason and at the given attribute, which is the first
    /// one if it is left out. Only the first answer counts.
    package func respond(_ error: ATTErrorCode? = nil, at handle: UInt16? = nil) {
        completion(error, handle)
    }
}
