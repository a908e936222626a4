import ATT
import BluetoothTypes
import EventLoops
import GAP
import GATT
import HCI
import HCIHost
import Security
import ServiceMessages

/// The measurement of the distance to the peer of one link for an app (behaviours 17.1 to 17.6).
///
/// The controller gives the own results, and the peer's Ranging Service those of the peer. Used on the loop only.
final class PeerRanging {
    /// The time from one procedure to the next: on an idle link, and beside traffic (behaviour 17.4).
    static let (pause, pauseBesideTraffic) = (Duration.milliseconds(200), Duration.seconds(1))
    /// The time in which the peer has to send its results.
    static let dataTimeout = Duration.seconds(5)
    /// The number of distances of which the app receives the median.
    static let smoothed = 5

    private struct Session {
        let asker: Asker
        var value: DiscoveredCharacteristic?
        var segments = RangingSegments.Assembler()
        var own: SoundingProcedure?
        var peer: RangingData?
        var recent: [Double] = []
        /// Whether the controller can start another procedure.
        var isReady = false
        var timer: ScheduledTask?
    }

    private let link: AccessLink
    private let client: GATTClient
    private let operations: LinkOperations
    private let attributes: RemoteAttributes
    private let configuration: SystemConfiguration
    private let loop: any EventLoop
    private var session: Session?

    /// Whether an app uses the values of an attribute, so that the subscription stays.
    var isUsed: (AttributeHandle) -> Bool = { _ in false }

    init(
        _ link: AccessLink,
        _ client: GATTClient,
        _ operations: LinkOperations,
        _ attributes: RemoteAttributes,
        _ configuration: SystemConfiguration,
        loop: any EventLoop
    ) {
        (self.link, self.client, self.operations) = (link, client, operations)
        (self.attributes, self.configuration, self.loop) = (attributes, configuration, loop)
        link.sounding?.onReady = { [weak self] in self?.controllerIsReady() }
        link.sounding?.onFailure = { [weak self] in self?.failed($0) }
    }

    var isActive: Bool { session != nil }

    // MARK: Requests

    /// Starts a session, or ends it at once with the reason why there can be none.
    ///
    /// - Parameter isOther: Whether a session to another peer is active.
    func start(for asker: Asker, besides isOther: Bool) {
        if let error = refusal(of: asker, isOther || isActive) { return asker.answer(.channelSoundingEnded(error)) }
        session = Session(asker: asker)
        link.sounding?.onProcedure = { [weak self] in self?.measured($0) }
        findService()
    }

    private func refusal(of asker: Asker, _ isBusy: Bool) -> ServiceError? {
        guard configuration.version.has(.channelSounding) else {
            return .init(.operationNotSupported, reason: "distance measurement needs iOS 27")
        }
        guard link.sounding != nil else {
            return .init(.operationNotSupported, reason: "the controller does not support distance measurement")
        }
        guard configuration.allowsChannelSounding else {
            return .init(.operationNotSupported, reason: "distance measurement is not allowed in this region")
        }
        guard link.connection.role == .central, link.connection.isEncrypted, link.secureLink.bond != nil else {
            return .unranged("the peripheral is not paired")
        }
        guard asker.user.phase == .foreground else { return .unranged("the app is not in the foreground") }
        return isBusy ? .unranged("another distance measurement is running") : nil
    }

    /// Ends the session of a manager on its request. Returns false if it has none.
    func cancel(for user: Attachment) -> Bool {
        guard session?.asker.user.key == user.key else { return false }
        end(nil)
        return true
    }

    /// Ends the session of a manager that has left the link, which gets no event.
    func remove(_ user: Attachment) {
        if session?.asker.user === user { stop() }
    }

    private func end(_ error: ServiceError?) {
        guard let asker = session?.asker else { return }
        stop()
        asker.answer(.channelSoundingEnded(error))
    }

    private func stop() {
        guard let session = session.take() else { return }
        if let timer = session.timer { loop.cancel(timer) }
        link.sounding?.stop()
        guard let value = session.value, link.isOpen, !isUsed(value.value) else { return }
        _ = operations.add { [client] done in client.setNotifying(false, value) { _ in done() } }
    }

    // MARK: The peer's service

    private func findService() {
        let isAccepted = operations.add { [weak self] done in
            guard let self, isActive else { return done() }
            attributes.loadServices { [weak self] services in
                guard let self, let service = try? services.get().first(where: { $0.uuid == RangingUUID.service })
                else {
                    self?.failed(.noService)
                    return done()
                }
                attributes.loadCharacteristics(of: service.handle) { [weak self] found in
                    self?.subscribe(try? found.get().first { $0.uuid == RangingUUID.realTimeData }, done)
                }
            }
        }
        if !isAccepted { end(.linkIsFull) }
    }

    private func subscribe(_ value: DiscoveredCharacteristic?, _ done: @escaping () -> Void) {
        guard let value, isActive else {
            failed(.noService)
            return done()
        }
        client.setNotifying(true, value) { [weak self] result in
            if case .success = result, self?.isActive == true {
                self?.session?.value = value
                self?.link.sounding?.prepare()
            } else {
                self?.failed(.noService)
            }
            done()
        }
    }

    /// Handles a notification of the peer. Ignored if it is of another characteristic.
    func receive(_ value: PacketBuffer, of handle: AttributeHandle) {
        guard session?.value?.value == handle else { return }
        do {
            guard let octets = try session?.segments.add(value) else { return }
            session?.peer = try RangingData(reading: PacketBuffer(octets))
            combine()
        } catch {
            report(.failure(.unmeasured("the peer's data are malformed: \(error)")))
        }
    }

    // MARK: Procedures

    private func controllerIsReady() {
        guard isActive else { return }
        session?.isReady = true
        if session?.timer == nil, session?.own == nil { measure() }
    }

    /// Starts a procedure, unless the app is in the background, where the session pauses (behaviour 17.6).
    private func measure() {
        guard var session else { return }
        guard session.isReady, session.asker.user.phase == .foreground else { return wait(Self.pauseBesideTraffic) }
        (session.own, session.peer, session.isReady) = (nil, nil, false)
        self.session = session
        link.sounding?.measure()
    }

    private func wait(_ pause: Duration) {
        if let timer = session?.timer { loop.cancel(timer) }
        session?.timer = loop.schedule(after: pause) { [weak self] in
            self?.session?.timer = nil
            self?.measure()
        }
    }

    private func measured(_ procedure: SoundingProcedure) {
        guard isActive else { return }
        session?.own = procedure
        if let timer = session?.timer { loop.cancel(timer) }
        session?.timer = loop.schedule(after: Self.dataTimeout) { [weak self] in
            self?.session?.timer = nil
            self?.report(.failure(.unmeasured("the peripheral has not sent its results in time")))
        }
        combine()
    }

    /// Estimates the distance once both devices' results of a procedure are there.
    private func combine() {
        guard let own = session?.own, let peer = session?.peer,
            peer.counter == own.counter & RangingData.counterMask
        else { return }
        do throws(SoundingError) {
            report(.success(try DistanceEstimator.distance(own, peer)))
        } catch {
            report(.failure(.unmeasured("\(error)")))
        }
    }

    /// Reports a distance, smoothed over the last ones, or why there is none, and waits for the next procedure.
    private func report(_ result: Result<Double, ServiceError>) {
        guard var session else { return }
        (session.own, session.peer) = (nil, nil)
        if case .success(let distance) = result {
            session.recent = session.recent.suffix(Self.smoothed - 1) + [distance]
        }
        self.session = session
        let isBusy = operations.isBusy || link.connection.queuedPDUs > 0
        wait(isBusy ? Self.pauseBesideTraffic : Self.pause)
        let median = result.map { _ in session.recent.sorted()[session.recent.count / 2] }
        session.asker.user.emit(.channelSoundingMeasured(median))
    }

    private func failed(_ error: SoundingError) {
        switch error {
        case .outOfOrder, .malformed, .mismatch, .noResult, .lostSegment, .timedOut:
            report(.failure(.unmeasured("\(error)")))
        case .unsupported, .refused, .command, .noService: end(.unranged("\(error)"))
        }
    }
}

extension ServiceError {
    /// The error of a session that cannot be configured.
    fileprivate static func unranged(_ reason: String) -> ServiceError {
        ServiceError(.channelSoundingConfigurationFailed, reason: reason)
    }

    /// The error of a procedure without a result.
    fileprivate static func unmeasured(_ reason: String) -> ServiceError {
        ServiceError(.channelSoundingProcedureFailed, reason: reason)
    }
}
