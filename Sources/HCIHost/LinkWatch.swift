import EventLoops
import HCI

/// What the controller owes the host about its connections, and how long that may take (AB-H06).
///
/// A command that Command Status answers has only begun; an event tells its end. Of most the peer decides how long that takes, and
/// the link layer has limits for peers. What exceeds those is the controller's fault: first the link in question is ended, and
/// where even that has no end, or where it is not about one link, the controller is reset.
struct LinkWatch {
    /// Data given to the controller of which it gives no buffer back meanwhile. A link is lost after at most 32 s of silence (Core Vol
    /// 6 Part B 4.5.2), and takes its data along.
    static let dataTimeout = Duration.seconds(45)
    /// The same for data of a link that ends: whoever waits for an answer does not wait for longer than 30 s (Core Vol 3 Part F 3.3.3)
    /// and ends the link, so that data would never be with the controller for ``dataTimeout``.
    static let leftDataTimeout = Duration.seconds(20)
    /// From a key to the event that tells what became of it. The link layer gives a procedure 40 s (Core Vol 6 Part B 5.2).
    static let encryptionTimeout = Duration.seconds(45)
    /// From the cancelling of an attempt to connect to its end (Core Vol 4 Part E 7.8.13).
    static let cancelTimeout = Duration.seconds(20)
    /// What the end of a link may take beyond its supervision timeout (Core Vol 6 Part B 5.1.6).
    static let endMargin = Duration.seconds(5)
    /// Links in a row whose data stay in the controller, with no buffer back in between. Of one the peer may be the reason, who
    /// acknowledges nothing (AB-L09).
    static let maximumStalls = 2

    /// What is owed.
    enum Debt: Hashable {
        /// The end of a link.
        case end(UInt16)
        /// That the link is encrypted, or why it is not.
        case encryption(UInt16)
        /// The end of an attempt to connect.
        case cancelledAttempt
    }

    enum Event {
        /// An attempt to connect has begun.
        case connecting
        /// It has ended.
        case connected
        /// The attempt, if there is one, is to end.
        case cancelled(at: Instant)
        /// A link is to end, which has this supervision timeout.
        case ending(UInt16, timeout: Duration, at: Instant)
        /// A link is to be encrypted, or to change its key.
        case encrypting(UInt16, at: Instant)
        /// What was owed about encryption is there.
        case encrypted(UInt16)
        /// A link is over, and all that was owed about it.
        case gone(UInt16)
        /// The controller has had data of a link for ``dataTimeout``.
        case stalled(UInt16)
        /// A link has ended, and the controller had had data of it for ``leftDataTimeout``.
        case leftData
        /// The controller has given buffers back.
        case progressed
        /// Time has passed.
        case looked(at: Instant)
    }

    enum Action: Equatable {
        /// Ends a link.
        case end(UInt16, LinkStall)
        /// The controller is to be reset.
        case fail(HCIHostError)
    }

    // At most two for each connection, of which the table has a bound, and one.
    private var debts: [Debt: Instant] = [:]
    private var isConnecting = false
    private var stalls = 0

    /// When to look next.
    var deadline: Instant? { debts.values.min() }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .connecting: isConnecting = true
        case .connected:
            isConnecting = false
            debts[.cancelledAttempt] = nil
        case .cancelled(let now):
            if isConnecting { owe(.cancelledAttempt, until: now + Self.cancelTimeout) }
        case .ending(let handle, let timeout, let now): owe(.end(handle), until: now + timeout + Self.endMargin)
        case .encrypting(let handle, let now): owe(.encryption(handle), until: now + Self.encryptionTimeout)
        case .encrypted(let handle): debts[.encryption(handle)] = nil
        case .gone(let handle): (debts[.end(handle)], debts[.encryption(handle)]) = (nil, nil)
        case .progressed: stalls = 0
        case .stalled(let handle): return stalled([.end(handle, .data)])
        case .leftData: return stalled([])
        case .looked(let now): return overdue(at: now)
        }
        return []
    }

    private mutating func stalled(_ actions: [Action]) -> [Action] {
        stalls += 1
        return stalls < Self.maximumStalls ? actions : [.fail(.dataNotTaken)]
    }

    /// Who asks twice does not wait for longer.
    private mutating func owe(_ debt: Debt, until deadline: Instant) {
        if debts[debt] == nil { debts[debt] = deadline }
    }

    private mutating func overdue(at now: Instant) -> [Action] {
        let due = debts.filter { $0.value <= now }.keys
        var actions: [Action] = []
        for debt in due {
            debts[debt] = nil
            switch debt {
            case .cancelledAttempt: return [.fail(.attemptNotEnded)]
            case .end(let handle): return [.fail(.linkNotEnded(ConnectionHandle(rawValue: handle)))]
            case .encryption(let handle): actions.append(.end(handle, .encryption))
            }
        }
        return actions
    }
}

/// Why the host ends a link that the peer has not ended.
package enum LinkStall: String, Hashable, Sendable, CustomStringConvertible {
    /// Data have been with the controller for too long.
    case data
    /// The controller does not say whether the link is encrypted.
    case encryption

    package var description: String {
        switch self {
        case .data: "nothing of what was given to the controller for it leaves"
        case .encryption: "the controller does not say what became of its encryption"
        }
    }
}
