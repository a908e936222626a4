/// One connection event: who sends when, and when it is over (Core Vol 6 Part B 4.5.1 and 4.5.6).
struct ConnectionEvent {
    /// Which end of the link this is.
    enum Role: Hashable {
        case central
        case peripheral
    }

    enum State: Hashable {
        /// The central sends at the anchor point; the peripheral waits for it.
        case begins
        /// A PDU goes out.
        case sending
        /// The peer's PDU is waited for.
        case listening
        case over
    }

    enum Input {
        /// The event's time has come.
        case anchor
        /// The own PDU has left, with this MD bit.
        case sent(moreData: Bool)
        /// A PDU has come in whole and good.
        case received(moreData: Bool)
        /// A PDU has come in with a wrong CRC.
        case corrupted
        /// Nothing came when something should have.
        case silence
        /// The radio is needed elsewhere.
        case revoked
    }

    enum Output: Hashable {
        /// Send: at once at the anchor point, one inter frame space after a received PDU.
        case send
        /// Wait for the peer's PDU.
        case listen
        /// The event is over.
        case close
        /// Nothing more to do.
        case none
    }

    let role: Role
    private(set) var state = State.begins
    private var ownMoreData = false
    private var peerMoreData = false
    private var consecutiveCorruptions = 0
    /// Whether nothing has been sent yet.
    private(set) var isFirst = true

    init(role: Role) {
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
            // Two wrong CRCs in a row close the event. The peer's MD bit is not known then.
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
        // The central always waits for the answer; the peripheral only when either end has more.
        if role == .peripheral, !ownMoreData, !peerMoreData { return close() }
        state = .listening
        return .listen
    }

    private mutating func answer(continues: Bool) -> Output {
        // The peripheral always answers; the central only when either end has more.
        if role == .central, !continues { return close() }
        state = .sending
        return .send
    }
}
