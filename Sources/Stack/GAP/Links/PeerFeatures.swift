import HCI
import HCIHost

/// Reads the link layer features of peers, once per link. Some commands are refused before the features are known.
final class PeerFeatures {
    private let host: HCIHost
    private var known: [ConnectionHandle: Known] = [:]

    private struct Known {
        weak var connection: HCIConnection?
        var features: LEFeatures?
        var waiting: [(Result<LEFeatures, GAPError>) -> Void] = []
    }

    init(host: HCIHost) {
        self.host = host
        host.onEvent(LEReadRemoteFeaturesComplete.self) { [weak self] in self?.featuresRead($0) }
    }

    /// Reads the features of a link's peer. Calls `completion` once while the link is open.
    func read(of connection: HCIConnection, _ completion: @escaping (Result<LEFeatures, GAPError>) -> Void) {
        // Handles are reused, so remove the features of closed links.
        known = known.filter { $0.value.connection?.isOpen ?? false }
        let handle = connection.handle
        if let features = known[handle]?.features { return completion(.success(features)) }
        let isAsked = known[handle] != nil
        known[handle, default: Known(connection: connection)].waiting.append(completion)
        guard !isAsked else { return }
        host.send(LEReadRemoteFeatures(handle: handle)) { [weak self] result in
            if case .failure(let error) = result { self?.finish(handle, .failure(GAPError(error))) }
        }
    }

    private func featuresRead(_ event: LEReadRemoteFeaturesComplete) {
        let isGood = event.status == .success
        finish(event.handle, isGood ? .success(event.features) : .failure(.rejected(event.status)))
    }

    private func finish(_ handle: ConnectionHandle, _ result: Result<LEFeatures, GAPError>) {
        guard let waiting = known[handle]?.waiting else { return }
        if case .success(let features) = result {
            known[handle]?.features = features
            known[handle]?.waiting = []
        } else {
            known[handle] = nil
        }
        for completion in waiting { completion(result) }
    }
}
