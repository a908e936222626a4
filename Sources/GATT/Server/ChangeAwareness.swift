/// Whether a client knows of the last change of the database (Core Vol 3 Part G 2.5.2.1).
///
/// It is followed for every client; only one that has announced robust caching is refused anything for it.
struct ChangeAwareness: Hashable, Sendable {
    private enum State: Hashable {
        case aware
        /// The bearers that were refused a request since the last change, and whether the hash has been read since.
        case unaware(refused: Set<ObjectIdentifier>, hasReadHash: Bool)
    }

    private var state = State.aware

    /// Whether the client knows of the last change.
    var isAware: Bool { state == .aware }

    /// The database has changed.
    mutating func databaseChanged() {
        state = .unaware(refused: [], hasReadHash: false)
    }

    /// A request has arrived on a bearer. Returns whether it is to be refused with Database Out Of Sync, which happens
    /// once for each bearer and change.
    ///
    /// - Parameters:
    ///   - naming: whether the request names handles.
    ///   - isOnlyBearer: whether the client has no other bearer; with several only reading the hash helps.
    ///   - isRobust: whether the client has announced robust caching.
    mutating func refuses(naming: Bool, on bearer: ObjectIdentifier, isOnlyBearer: Bool, isRobust: Bool) -> Bool {
        guard case .unaware(var refused, let hasReadHash) = state else { return false }
        if hasReadHash || (isOnlyBearer && refused.contains(bearer)) {
            state = .aware
            return false
        }
        guard isRobust, naming, refused.insert(bearer).inserted else { return false }
        state = .unaware(refused: refused, hasReadHash: false)
        return true
    }

    /// A bearer is closed; another may come to have its place in memory.
    mutating func bearerIsGone(_ bearer: ObjectIdentifier) {
        guard case .unaware(var refused, let hasReadHash) = state else { return }
        refused.remove(bearer)
        state = .unaware(refused: refused, hasReadHash: hasReadHash)
    }

    /// The hash has been read: the client is aware with its next request.
    mutating func readHash() {
        guard case .unaware(let refused, _) = state else { return }
        state = .unaware(refused: refused, hasReadHash: true)
    }

    /// The client has confirmed the last change.
    mutating func confirmed(isOnlyBearer: Bool) {
        if isOnlyBearer { state = .aware }
    }
}
