import EventLoops
import HCI

/// The time-outs for what the controller owes the host about its connections (AB-H06).
///
/// A command that Command Status answers has only started; an event reports its end. The peer usually determines how
/// long that takes, within the limits of the link layer. Exceeding those limits is a fault of the controller. The host
/// then ends the link. If the link does not end, or the fault does not concern a single link, the host resets the
/// controller.
struct LinkWatch {
    /// The time-out for data in the controller while it returns no buffer of the link. A link is lost after at most
    /// 32 s of silence (Core Vol 6 Part B 4.5.2), and its data with it.
    static let dataTimeout = Duration.seconds(45)
    /// The same for the data of a link that ends. An ATT client waits at most 30 s for a response (Core Vol 3 Part F
    /// 3.3.3) and then ends the link, so that the data never reaches ``dataTimeout``.
    static let leftDataTimeout = Duration.seconds(20)
    /// The time-out from a key to the event with its outcome. A link-layer procedure takes at most 40 s (Core Vol 6
    /// Part B 5.2).
    static let encryptionTimeout = Duration.seconds(45)
    /// The time-out from the cancellation of a connection attempt to its end (Core Vol 4 Part E 7.8.13).
    static let cancelTimeout = Duration.seconds(20)
    /// The time allowed for the end of a link beyond its supervision timeout (Core Vol 6 Part B 5.1.6).
    static let endMargin = Duration.seconds(5)
    /// The number of consecutive links with stalled data, with no buffer returned in between, at which the controller
    /// is reset. A single stalled link may be the fault of a peer that acknowledges nothing (AB-L09).
    static let maximumStalls = 2

    /// An outcome that the controller owes. Overdue ones are handled in this order, those for which the controller is
    /// reset first.
    enum Debt: Hashable, Comparable {
        case cancelledAttempt
        case end(UInt16)
        case encryption(UInt16)
    }

    enum Event {
        case connecting
        /// The connection attempt has ended, with a connection or without.
        case connected
        /// The host has cancelled the connection attempt, if there is one.
        case cancelled(at: Instant)
        /// The host has asked for the end of a link with this supervision timeout.
        case ending(UInt16, timeout: Duration, at: Instant)
        /// The host has given a key to start encryption or to refresh it.
        case encrypting(UInt16, at: Instant)
        case encrypted(UInt16)
        /// A link has ended, which settles everything about it.
        case gone(UInt16)
        /// The controller has held data of a link for ``dataTimeout``.
        case stalled(UInt16)
        /// A link has ended whose data the controller had held for ``leftDataTimeout``.
        case leftData
        case progressed
        case checked(at: Instant)
    }

    enum Action: Equatable {
        case end(UInt16, LinkStall)
        case fail(HCIHostError)
    }

    // Bounded: at most two per connection, and one for the connection attempt.
    private var debts: [Debt: Instant] = [:]
    private var isConnecting = false
    private var stalls = 0

    /// The next time at which ``Event/checked(at:)`` is due; nil if nothing is owed.
    var deadline: Instant? { debts.values.min() }

    /// The links about which something is owed.
    var watched: [UInt16] {
        debts.keys.compactMap {
            switch $0 {
            case .end(let handle), .encryption(let handle): handle
            case .cancelledAttempt: nil
            }
        }
    }

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
        case .checked(let now): return overdue(at: now)
        }
        return []
    }

    private mutating func stalled(_ actions: [Action]) -> [Action] {
        stalls += 1
        return stalls < Self.maximumStalls ? actions : [.fail(.dataNotTaken)]
    }

    /// Starts a time-out. A repeated request does not extend a time-out that is running.
    private mutating func owe(_ debt: Debt, until deadline: Instant) {
        if debts[debt] == nil { debts[debt] = deadline }
    }

    private mutating func overdue(at now: Instant) -> [Action] {
        // A dictionary has no stable order, and the same seed has to give the same commands.
        let due = debts.filter { $0.value <= now }.keys.sorted()
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

/// The reason for which the host ends a link.
package enum LinkStall: String, Hashable, Sendable, CustomStringConvertible {
    case data
    case encryption

    package var description: String {
        switch self {
        case .data: "the controller does not send the link's data"
        case .encryption: "the controller does not report the outcome of the link's encryption"
        }
    }
}
