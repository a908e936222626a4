import BluetoothTypes
import EventLoops
import HCI
import Security

/// The Central role: the connection establishment procedures and name discovery (Core Vol 3 Part C 9.3.5 to 9.3.8,
/// 9.2.7).
///
/// Each central runs one procedure at a time. A device may have several centrals.
package final class Central {
    /// Called at the end of a procedure.
    package typealias Completion = (Result<AccessLink, GAPError>) -> Void

    /// The scan settings of the general and the selective procedure.
    package var scanSettings = ScanSettings.attentive

    private let access: GenericAccess
    private var machine = EstablishmentMachine()
    private var completion: Completion?
    private var pick: ((Sighting) -> Bool)?
    private var timer: ScheduledTask?
    private var made: AccessLink?

    package init(_ access: GenericAccess) {
        self.access = access
    }

    /// Connects to one device: the direct connection establishment procedure (9.3.8).
    ///
    /// A bonded device may be named by any of its addresses and is recognised by all of them, here and in the other
    /// procedures.
    ///
    /// - Parameters:
    ///   - time: The time limit; nil to try until ``cancel()``.
    ///   - completion: Called once.
    package func connect(to peer: BluetoothAddress, within time: Duration? = nil, completion: @escaping Completion) {
        begin(.direct(peer), within: time, completion)
    }

    /// Connects to the first of these devices that is detected: the auto connection establishment procedure (9.3.5).
    package func autoConnect(
        to peers: [BluetoothAddress],
        within time: Duration? = nil,
        completion: @escaping Completion
    ) {
        begin(.auto(peers), within: time, completion)
    }

    /// Connects to the first connectable device that `pick` accepts: the general connection establishment procedure
    /// (9.3.6).
    package func generalConnect(
        within time: Duration? = nil,
        pick: @escaping (Sighting) -> Bool,
        completion: @escaping Completion
    ) {
        begin(.general, within: time, pick: pick, completion)
    }

    /// Connects to the first connectable one of these devices that `pick` accepts: the selective connection
    /// establishment procedure (9.3.7).
    package func selectiveConnect(
        to peers: [BluetoothAddress],
        within time: Duration? = nil,
        pick: @escaping (Sighting) -> Bool = { _ in true },
        completion: @escaping Completion
    ) {
        begin(.selective(peers), within: time, pick: pick, completion)
    }

    /// Cancels the procedure. A link that is already being established may still come up; see ``GenericAccess/onLink``.
    package func cancel() {
        handle(.cancel)
    }

    private func begin(
        _ procedure: EstablishmentMachine.Procedure,
        within time: Duration?,
        pick: ((Sighting) -> Bool)? = nil,
        _ completion: @escaping Completion
    ) {
        guard case .ready = access.state else { return completion(.failure(.notReady)) }
        guard machine.state == .idle else { return completion(.failure(.busy)) }
        self.completion = completion
        self.pick = pick
        access.watchConnections(for: self) { [weak self] in self?.connectionChanged($0, $1) }
        if let time {
            timer = access.loop.schedule(after: time) { [weak self] in
                self?.timer = nil
                self?.handle(.timeOver)
            }
        }
        handle(.begin(procedure.naming { access.privacy.identity(of: $0) }))
    }

    private func connectionChanged(_ result: Result<AccessLink, GAPError>, _ peer: BluetoothAddress?) {
        switch result {
        case .failure(let error): handle(.failed(error, peer))
        case .success(let link):
            made = link
            handle(.connected(link.peer))
            made = nil
        }
    }

    private func handle(_ event: EstablishmentMachine.Event) {
        for action in machine.handle(event) {
            switch action {
            case .scan(let peers): scan(peers)
            case .endScan: access.endScan(for: self)
            case .want(let peers): peers.forEach(access.connector.want)
            case .withdraw(let peers): peers.forEach(access.connector.withdraw)
            case .endTimer: endTimer()
            case .finish: if let made { finish(.success(made)) }
            case .fail(let error): finish(.failure(error))
            }
        }
    }

    private func scan(_ peers: [BluetoothAddress]?) {
        var settings = scanSettings
        settings.advertisers = peers
        do throws(GAPError) {
            try access.scan(
                settings,
                for: self,
                onSighting: { [weak self] in self?.receive($0) },
                onEnd: { [weak self] in self?.handle(.failed($0 ?? .timedOut, nil)) }
            )
        } catch {
            handle(.failed(error, nil))
        }
    }

    private func receive(_ sighting: Sighting) {
        guard sighting.isConnectable, !sighting.isAnonymous, pick?(sighting) == true else { return }
        handle(.picked(sighting.address))
    }

    private func finish(_ result: Result<AccessLink, GAPError>) {
        endTimer()
        access.unwatchConnections(for: self)
        let completion = completion
        self.completion = nil
        pick = nil
        completion?(result)
    }

    private func endTimer() {
        if let timer { access.loop.cancel(timer) }
        timer = nil
    }
}
