import ATT
import BluetoothTypes

/// The owner of the values that the database does not store. All methods are called on the event loop.
package protocol GATTServerDelegate: AnyObject {
    /// Called when a client reads a value. Respond to the request exactly once, now or later. Until then the client's
    /// next request waits (behaviour 7.33).
    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest)

    /// Called when a client writes values. Respond to the request exactly once, now or later.
    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest)

    /// Called when a client has changed its configuration of the value at `handle`. At the end of its session every
    /// configuration becomes empty (behaviour 7.40).
    func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    )

    /// Called when there is room again after ``GATTServer/update(_:of:for:)`` returned false (behaviour 7.43).
    func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession)

    /// Called when ``GATTServerSession/record`` has changed, which is to be stored if the client is bonded. The calls
    /// are at least ``GATTServerSession/recordInterval`` apart, with a final one at the end of the session if a change
    /// is pending.
    func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession)
}

extension GATTServerDelegate {
    /// Default implementation, for servers that store no records.
    package func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession) {}
}

/// A client's request to read a value, or the part of it from an offset on.
package struct GATTReadRequest {
    package let session: GATTServerSession
    package let handle: UInt16
    /// The offset of the first octet to return. Answer an offset past the end with `invalidOffset` (behaviour 7.31).
    package let offset: Int
    let completion: (Result<PacketBuffer, ATTErrorCode>) -> Void

    /// Responds with the octets from the offset on, or with an error. Only the first response counts.
    package func respond(_ result: Result<PacketBuffer, ATTErrorCode>) {
        completion(result)
    }
}

/// A part of a value to be written.
package struct GATTWrite: Hashable, Sendable {
    package var handle: UInt16
    /// The offset of the part in the value.
    package var offset: Int
    package var value: PacketBuffer

    package init(handle: UInt16, offset: Int = 0, value: PacketBuffer) {
        (self.handle, self.offset, self.value) = (handle, offset, value)
    }
}

/// A client's write of one value, or of everything that it had prepared (behaviour 7.34). Apply all parts or none
/// (behaviour 7.35).
package struct GATTWriteRequest {
    package let session: GATTServerSession
    /// The parts, in order; at least one.
    package let writes: [GATTWrite]
    /// Whether the client expects a response. If not, responding has no effect (behaviour 7.36).
    package let expectsResponse: Bool
    let completion: (ATTErrorCode?, UInt16?) -> Void

    /// Responds that all parts were written, or none because of `error` at `handle`, by default the first attribute.
    /// Only the first response counts.
    package func respond(_ error: ATTErrorCode? = nil, at handle: UInt16? = nil) {
        completion(error, handle)
    }
}
