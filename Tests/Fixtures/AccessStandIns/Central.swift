import BluetoothTypes
import EventLoops
import GAP
import Security

/// The Central role of a device without apps, for tests of what its peers do, and of the connection establishment
/// procedures (Core Vol 3 Part C 9.3.5, 9.3.6, 9.3.8). It runs one procedure at a time.
package final class Central {
    /// Called at the end of a procedure.
    package typealias Completion = (Result<AccessLink, GAPError>) -> Void

    private let access: GenericAccess
    /// The peers that the controller is to connect to, by the addresses with which links and failures are reported.
    private var peers: [BluetoothAddress] = []
    private var completion: Completion?
    private var timer: ScheduledTask?

    /// Creates a central without a procedure.
    package init(_ access: GenericAccess) {
        self.access = access
    }

    /// Connects to one device: the direct connection establishment procedure (9.3.8).
    ///
    /// - Parameters:
    ///   - time: The time limit; nil to try until ``cancel()``.
    ///   - completion: Called once.
    package func connect(to peer: BluetoothAddress, within time: Duration? = nil, completion: @escaping Completion) {
        begin(within: time, completion) { $0.want([peer]) }
    }

    /// Connects to the first of these devices that is detected: the auto connection establishment procedure (9.3.5).
    package func autoConnect(
        to peers: [BluetoothAddress],
        within time: Duration? = nil,
        completion: @escaping Completion
    ) {
        begin(within: time, completion) { $0.want(peers) }
    }

    /// Connects to the first connectable device that `pick` accepts: the general connection establishment procedure
    /// (9.3.6).
    package func generalConnect(
        within time: Duration? = nil,
        pick: @escaping (Sighting) -> Bool,
        completion: @escaping Completion
    ) {
        begin(within: time, completion) { $0.scan(pick) }
    }

    /// Cancels the procedure, without a call of its completion. A link that is being established may still come up.
    package func cancel() { _ = end() }

    private func begin(within time: Duration?, _ completion: @escaping Completion, _ start: (Central) -> Void) {
        guard case .ready = access.state else { return completion(.failure(.notReady)) }
        guard self.completion == nil else { return completion(.failure(.busy)) }
        self.completion = completion
        access.watchConnections(for: self) { [weak self] in self?.attemptEnded($0, $1) }
        timer = time.map { time in
            access.loop.schedule(after: time) { [weak self] in self?.finish(.failure(.timedOut)) }
        }
        start(self)
    }

    private func scan(_ pick: @escaping (Sighting) -> Bool) {
        do throws(GAPError) {
            try access.scan(
                .attentive,
                for: self,
                onSighting: { [weak self] sighting in
                    guard let self, sighting.isConnectable, !sighting.isAnonymous, pick(sighting) else { return }
                    access.endScan(for: self)
                    want([sighting.address])
                },
                onEnd: { [weak self] in self?.finish(.failure($0)) }
            )
        } catch {
            finish(.failure(error))
        }
    }

    private func want(_ wanted: [BluetoothAddress]) {
        peers = wanted.map { access.privacy.identity(of: $0) }
        wanted.forEach(access.connector.want)
    }

    /// Called with each link made as central, and with each failure; without a peer if it concerns all of them.
    private func attemptEnded(_ result: Result<AccessLink, GAPError>, _ peer: BluetoothAddress?) {
        switch result {
        case .success(let link): if peers.contains(link.peer) { finish(result) }
        case .failure:
            guard let peer else { return finish(result) }
            guard peers.contains(peer) else { return }
            access.connector.withdraw(peer)
            peers.removeAll { $0 == peer }
            if peers.isEmpty { finish(result) }
        }
    }

    private func finish(_ result: Result<AccessLink, GAPError>) {
        end()?(result)
    }

    private func end() -> Completion? {
        let (ended, left) = (completion, peers)
        (completion, peers) = (nil, [])
        if let timer { access.loop.cancel(timer) }
        timer = nil
        access.endScan(for: self)
        access.unwatchConnections(for: self)
        left.forEach(access.connector.withdraw)
        return ended
    }
}
