import Security

// MARK: - Whose pairing a person is asked about

extension BluetoothSystem {
    /// The apps that are connected to the peer of a prompt, and where they are in their lives.
    func apps(of peer: PromptedPeer) -> [(app: AppIdentity, phase: AppPhase)] {
        let link = links.first { $0.secured.number == peer.link }
        return (link?.users ?? []).map { ($0.subject.app ?? AppIdentity(name: ""), $0.phase) }
    }

    /// Whether a prompt is for apps that are all in the background: then it waits as a notification (behaviour 6.21).
    package func isInBackground(_ peer: PromptedPeer) -> Bool {
        let apps = apps(of: peer)
        return !apps.isEmpty && apps.allSatisfy { $0.phase != .foreground }
    }
}
