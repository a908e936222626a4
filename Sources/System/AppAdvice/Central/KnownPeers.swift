import Foundation

/// The peers that an app has been connected to, the latest ones.
struct KnownPeers: Sendable {
    /// The maximum number of peers. Then all are forgotten.
    static let maximum = 1_024

    private var peers: Set<UUID> = []

    mutating func insert(_ peer: UUID) {
        if !peers.contains(peer), peers.count >= Self.maximum { peers = [] }
        peers.insert(peer)
    }

    func contains(_ peer: UUID) -> Bool { peers.contains(peer) }
}
