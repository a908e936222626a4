import ATT
import BluetoothTypes
import DequeModule
import GATT

/// The requests of centrals that one manager has to answer: one of each central at a time, and its next one is kept back until
/// that is answered (behaviour 7.33), whatever bearers they come over.
struct CentralRequests {
    /// Requests of one central that may wait: one of each of its bearers, as long as it keeps to the rules.
    static let maximumWaiting = GATTServerSession.maximumBearers

    /// What a central asks for.
    enum Content {
        case read(GATTReadRequest, LocalAttributeID)
        case write(GATTWriteRequest, [WriteRequest])

        var session: GATTServerSession {
            switch self {
            case .read(let request, _): request.session
            case .write(let request, _): request.session
            }
        }

        /// Answers for an app that does not.
        func refuse(_ error: ATTErrorCode) {
            switch self {
            case .read(let request, _): request.respond(.failure(error))
            case .write(let request, _): request.respond(error)
            }
        }
    }

    /// A request that the app is asked about.
    struct Transaction {
        let id: UInt64
        let content: Content
        let central: CentralInfo
    }

    /// What the app has been asked about.
    private var open: [UInt64: Content] = [:]
    private var waiting = Deque<(content: Content, central: CentralInfo)>()
    private var last: UInt64 = 0

    /// Takes a request up; false when too many of this central wait.
    mutating func add(_ content: Content, from central: CentralInfo) -> Bool {
        let others = waiting.reduce(0) { $0 + ($1.content.session === content.session ? 1 : 0) }
        guard others < Self.maximumWaiting else { return false }
        waiting.append((content, central))
        return true
    }

    /// A number for what nobody waits for an answer to.
    mutating func nextNumber() -> UInt64 {
        last += 1
        return last
    }

    /// The next request that the app may be asked about.
    mutating func next() -> Transaction? {
        guard let index = waiting.firstIndex(where: { !isAsked(by: $0.content.session) }) else { return nil }
        let (content, central) = waiting.remove(at: index)
        let id = nextNumber()
        open[id] = content
        return Transaction(id: id, content: content, central: central)
    }

    private func isAsked(by session: GATTServerSession) -> Bool {
        open.values.contains { $0.session === session }
    }

    /// The app answers; nil for what nobody asks any more.
    mutating func take(_ id: UInt64) -> Content? {
        open.removeValue(forKey: id)
    }

    /// The app that was asked is gone: what it did not answer is to be asked once more, in the same order.
    mutating func askAgain(_ central: (GATTServerSession) -> CentralInfo?) {
        let asked = open.sorted { $0.key < $1.key }.map(\.value)
        open = [:]
        for content in asked.reversed() {
            if let central = central(content.session) { waiting.prepend((content, central)) }
        }
    }

    /// Forgets the requests of centrals that are gone.
    mutating func removeClosed() {
        open = open.filter { !$0.value.session.isClosed }
        waiting.removeAll { $0.content.session.isClosed }
    }

    /// Forgets all, and says what it was, in the order of asking.
    mutating func removeAll() -> [Content] {
        defer {
            open = [:]
            waiting = []
        }
        return open.sorted { $0.key < $1.key }.map(\.value) + waiting.map(\.content)
    }
}
