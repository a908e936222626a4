import ATT
import BluetoothTypes
import DequeModule
import GATT
import ServiceMessages

/// The requests of centrals that one manager has to answer. Each central has one request open at a time, and its next
/// one is held back until that is answered (behaviour 7.33), whichever bearers they arrive on.
struct CentralRequests {
    /// The number of requests of one central that may wait: one for each bearer, as the specification has it.
    static let maximumWaiting = GATTServerSession.maximumBearers

    enum Content {
        case read(GATTReadRequest, LocalAttributeID)
        case write(GATTWriteRequest, [WriteRequest])

        var session: GATTServerSession {
            switch self {
            case .read(let request, _): request.session
            case .write(let request, _): request.session
            }
        }

        func refuse(_ error: ATTErrorCode) {
            switch self {
            case .read(let request, _): request.respond(.failure(error))
            case .write(let request, _): request.respond(error)
            }
        }
    }

    /// Requests that the app has not answered yet.
    private var open: [UInt64: Content] = [:]
    private var waiting = Deque<(content: Content, central: CentralInfo)>()
    private var last: UInt64 = 0

    /// Queues a request. Returns false if too many requests of this central are waiting.
    mutating func add(_ content: Content, from central: CentralInfo) -> Bool {
        let others = waiting.reduce(0) { $0 + ($1.content.session === content.session ? 1 : 0) }
        guard others < Self.maximumWaiting else { return false }
        waiting.append((content, central))
        return true
    }

    /// Returns a number for a request that needs no response.
    mutating func nextNumber() -> UInt64 {
        last += 1
        return last
    }

    /// Removes and returns the next request that may be passed to the app.
    mutating func next() -> (id: UInt64, content: Content, central: CentralInfo)? {
        guard let index = waiting.firstIndex(where: { !isAsked(by: $0.content.session) }) else { return nil }
        let (content, central) = waiting.remove(at: index)
        let id = nextNumber()
        open[id] = content
        return (id, content, central)
    }

    private func isAsked(by session: GATTServerSession) -> Bool {
        open.values.contains { $0.session === session }
    }

    /// Removes the request that the app answers; nil if it was answered already or the central is gone.
    mutating func take(_ id: UInt64) -> Content? {
        open.removeValue(forKey: id)
    }

    /// Requeues, in the same order, the requests that a process of the app did not answer before it ended.
    mutating func askAgain(_ central: (GATTServerSession) -> CentralInfo?) {
        let asked = open.sorted { $0.key < $1.key }.map(\.value)
        open = [:]
        for content in asked.reversed() {
            if let central = central(content.session) { waiting.prepend((content, central)) }
        }
    }

    mutating func removeClosed() {
        open = open.filter { !$0.value.session.isClosed }
        waiting.removeAll { $0.content.session.isClosed }
    }

    /// Removes all requests and returns them in the order of arrival.
    mutating func removeAll() -> [Content] {
        defer {
            open = [:]
            waiting = []
        }
        return open.sorted { $0.key < $1.key }.map(\.value) + waiting.map(\.content)
    }
}
