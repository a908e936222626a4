import BluetoothTypes
import EventLoops
import HCI

/// A pending request to connect to a device in a subevent of a train (Core Vol 4 Part E 7.8.66).
struct PendingConnectRequest {
    /// The subevent in which to send the connection request.
    var subevent: UInt8
    var command: LEExtendedCreateConnection
    /// The own address on the air.
    var own: OwnAddressParameters
}

/// The stage of a subevent.
enum SubeventStage {
    /// AUX_SYNC_SUBEVENT_IND is on the air.
    case sending(ResponseSlots)
    /// The next response slot begins when the timer fires.
    case pausing(ResponseSlots)
    /// Listening in a response slot.
    case listening(ResponseSlots)
    /// AUX_CONNECT_REQ is on the air.
    case requesting(ConnectIndication, PendingConnectRequest, channel: UInt8)
    /// AUX_CONNECT_REQ was sent, and AUX_CONNECT_RSP is expected.
    case awaiting(ConnectIndication, PendingConnectRequest, LinkStart)
}

/// The response slots of one subevent in which to listen.
struct ResponseSlots {
    /// When the subevent began.
    let origin: Instant
    /// The channel of the subevent, which its responses use as well.
    let channel: UInt8
    let timing: ResponseTiming
    /// The slots whose responses have not been recorded yet.
    var left: Range<UInt16>
    /// The responses received in the previous slots.
    var receivedResponses: [LEPeriodicResponse] = []

    /// The start of the next slot; nil after the last one.
    var next: Instant? {
        guard let slot = left.first else { return nil }
        return origin + .microseconds(timing.timing.start(ofSlot: UInt8(truncatingIfNeeded: slot)))
    }

    /// Records the response in the next slot.
    mutating func record(_ change: (inout LEPeriodicResponse) -> Void = { _ in }) {
        guard let slot = left.first else { return }
        left = slot + 1..<left.upperBound
        var response = LEPeriodicResponse(slot: UInt8(truncatingIfNeeded: slot))
        change(&response)
        receivedResponses.append(response)
    }
}

extension LEPeriodicAdvertisingResponseReport {
    /// The maximum length of an event after the subevent code, in octets (Core Vol 4 Part E 5.4.4).
    static let maximumSize = 254
    /// The length of the event's header, and of each response's header, in octets.
    static let (headerSize, responseHeaderSize) = (4, 6)

    /// Packs responses into as few events as possible, and fragments those that do not fit into one.
    static func reports(set: UInt8, subevent: UInt8, _ responses: [LEPeriodicResponse]) -> [Self] {
        var reports = [Self(set: set, subevent: subevent, responses: [])]
        var room = maximumSize - headerSize
        for piece in responses.flatMap(\.pieces) {
            let size = responseHeaderSize + piece.data.count
            if size > room {
                reports.append(Self(set: set, subevent: subevent, responses: []))
                room = maximumSize - headerSize
            }
            room -= size
            reports[reports.count - 1].responses.append(piece)
        }
        return responses.isEmpty ? [] : reports
    }
}

extension LEPeriodicResponse {
    /// The maximum length of the data in one fragment, in octets.
    static let maximumPiece =
        LEPeriodicAdvertisingResponseReport.maximumSize - LEPeriodicAdvertisingResponseReport.headerSize
        - LEPeriodicAdvertisingResponseReport.responseHeaderSize

    /// The response as fragments that fit into an event. All but the last indicate that more follow.
    fileprivate var pieces: [LEPeriodicResponse] {
        guard data.count > Self.maximumPiece else { return [self] }
        var (first, rest) = (self, self)
        first.data = data.prefix(upTo: Self.maximumPiece)
        first.dataStatus = .moreToCome
        rest.data = data.suffix(after: Self.maximumPiece)
        return [first, rest]
    }
}
