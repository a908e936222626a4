/// Whether a client is change-aware, that is, has learned of the last change of the database (Core Vol 3 Part G
/// 2.5.2.1).
///
/// The state is tracked for every client, but requests are refused only to clients that have announced robust caching.
struct ChangeAwareness: Hashable, Sendable {
    private enum State: Hashable {
        case aware
        /// The bearers on which a request was refused since the last change, and whether the hash was read since then.
        case unaware(refused: Set<ObjectIdentifier>, hasReadHash: Bool)
    }

    private var state = State.aware

    var isAware: Bool { state == .aware }

    mutating func databaseChanged() {
        state = .unaware(refused: [], hasReadHash: false)
    }

    /// Returns whether to refuse a request with Database Out Of Sync, which happens once per bearer and change. With
    /// several bearers, only reading the hash makes the client change-aware.
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

    /// Removes a closed bearer, whose object identifier may be reused.
    mutating func bearerClosed(_ bearer: ObjectIdentifier) {
        guard case .unaware(var refused, let hasReadHash) = state else { return }
        refused.remove(bearer)
        state = .unaware(refused: refused, hasReadHash: hasReadHash)
    }

    /// Records that the hash was read: the client becomes change-aware with its next request.
    mutating func readHash() {
        guard case .unaware(let refused, _) = state else { return }
        state = .unaware(refused: refused, hasReadHash: true)
    }

    mutating func confirmed(isOnlyBearer: Bool) {
        if isOnlyBearer { state = .aware }
    }
}
