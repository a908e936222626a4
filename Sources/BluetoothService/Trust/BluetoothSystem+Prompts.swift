import Security

// MARK: - Apps behind a pairing prompt

extension BluetoothSystem {
    /// Returns the apps that are connected to the peer of a prompt, with their phases.
    func apps(of peer: PromptedPeer) -> [(app: AppIdentity, phase: AppPhase)] {
        let link = links.first { $0.secured.number == peer.link }
        return (link?.users ?? []).map { ($0.subject.app ?? AppIdentity(name: ""), $0.phase) }
    }

    /// Whether all apps behind a prompt are in the background. If so, the prompt waits as a notification
    /// (behaviour 6.21).
    package func isInBackground(_ peer: PromptedPeer) -> Bool {
        let apps = apps(of: peer)
        return !apps.isEmpty && apps.allSatisfy { $0.phase != .foreground }
    }
}
