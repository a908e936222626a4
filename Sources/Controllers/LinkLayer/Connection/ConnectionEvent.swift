/// The state machine of a connection event: when each side sends, and when the event closes (Core Vol 6 Part B 4.5.1
/// and 4.5.6).
struct ConnectionEvent {
    enum State: Hashable {
        /// The central sends at the anchor point; the peripheral listens for it.
        case begins
        /// A PDU of this device is on the air.
        case sending
        case listening
        case over
    }

    enum Input {
        /// The event starts, at its anchor point.
        case anchor
        /// The PDU of this device has been sent, with this MD bit.
        case sent(moreData: Bool)
        /// A PDU with a correct CRC has been received.
        case received(moreData: Bool)
        /// A PDU with a wrong CRC has been received.
        case corrupted
        /// No PDU has started in time.
        case silence
        /// Another user has taken the radio.
        case revoked
    }

    enum Output: Hashable {
        /// Send a PDU: immediately at the anchor point, otherwise one inter frame space after the received PDU.
        case send
        case listen
        case close
        case none
    }

    let role: LinkRole
    private(set) var state = State.begins
    private var ownMoreData = false
    private var peerMoreData = false
    private var consecutiveCorruptions = 0
    /// Whether no PDU has been sent yet.
    private(set) var isFirst = true

    init(role: LinkRole) {
        self.role = role
    }

    mutating func handle(_ input: Input) -> Output {
        switch (state, input) {
        case (.over, _):
            return .none
        case (.begins, .anchor):
            state = role == .central ? .sending : .listening
            return role == .central ? .send : .listen
        case (.sending, .sent(let moreData)):
            return sent(moreData)
        case (.listening, .received(let moreData)):
            consecutiveCorruptions = 0
            peerMoreData = moreData
            return answer(continues: ownMoreData || peerMoreData)
        case (.listening, .corrupted):
            // Two consecutive wrong CRCs close the event. The MD bit of a corrupted PDU is unknown.
            consecutiveCorruptions += 1
            if consecutiveCorruptions >= 2 { return close() }
            peerMoreData = role == .peripheral
            return answer(continues: ownMoreData)
        case (_, .silence), (_, .revoked):
            return close()
        default:
            return .none
        }
    }

    private mutating func close() -> Output {
        state = .over
        return .close
    }

    private mutating func sent(_ moreData: Bool) -> Output {
        ownMoreData = moreData
        isFirst = false
        // The central always listens for the response; the peripheral only if either side has more data.
        if role == .peripheral, !ownMoreData, !peerMoreData { return close() }
        state = .listening
        return .listen
    }

    private mutating func answer(continues: Bool) -> Output {
        // The peripheral always responds; the central only if either side has more data.
        if role == .central, !continues { return close() }
        state = .sending
        return .send
    }
}
