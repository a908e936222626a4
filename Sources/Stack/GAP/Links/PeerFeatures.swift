import HCI
import HCIHost

/// Reads the link layer features of peers, once per link. Some commands are refused before the features are known.
final class PeerFeatures {
    private let host: HCIHost
    private var known: [ConnectionHandle: Known] = [:]

    private struct Known {
        weak var connection: HCIConnection?
        var isRead = false
        var waiting: [() -> Void] = []
    }

    init(host: HCIHost) {
        self.host = host
        host.onEvent(LEReadRemoteFeaturesComplete.self) { [weak self] in self?.featuresRead($0) }
    }

    /// Reads the features of a link's peer. Calls `completion` when they have been read, and never if that fails.
    func read(of connection: HCIConnection, _ completion: @escaping () -> Void) {
        // Handles are reused, so forget closed links.
        known = known.filter { $0.value.connection?.isOpen ?? false }
        let handle = connection.handle
        if known[handle]?.isRead == true { return completion() }
        let isAsked = known[handle] != nil
        known[handle, default: Known(connection: connection)].waiting.append(completion)
        guard !isAsked else { return }
        host.send(LEReadRemoteFeatures(handle: handle)) { [weak self] result in
            if case .failure = result { self?.known[handle] = nil }
        }
    }

    private func featuresRead(_ event: LEReadRemoteFeaturesComplete) {
        guard let waiting = known[event.handle]?.waiting else { return }
        guard event.status == .success else { return known[event.handle] = nil }
        known[event.handle]?.isRead = true
        known[event.handle]?.waiting = []
        for completion in waiting { completion() }
    }
}
