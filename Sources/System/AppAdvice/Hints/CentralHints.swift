import AssignedNumbers
import BluetoothTypes
import Foundation
import ServiceEvents
import ServiceMessages

/// The causes of failures that the messages of a central manager show.
struct CentralHints {
    private var scan: (services: [BluetoothUUID], since: Duration, site: CallSite?)?
    private var peers: [UUID: PeerHints] = [:]

    mutating func add(_ request: CentralRequest, _ observation: Observation, at time: Duration) {
        switch request {
        case .startScan(let request): scan = (request.services ?? [], time, observation.site)
        case .stopScan: scan = nil
        case .peer(let peer, let request): peers[peer, default: PeerHints()].add(request, observation, at: time)
        case .watchConnections, .resetScanFilter: break
        }
    }

    mutating func add(_ event: CentralEvent, at time: Duration) {
        switch event {
        case .discovered(let info, _, rssi: _):
            scan = nil
            if let name = info.name { peers[info.identifier, default: PeerHints()].name = name }
        case .peer(let peer, let event), .answered(let peer, number: _, let event):
            peers[peer, default: PeerHints()].add(event, at: time)
        case .willRestore(let state):
            scan = state.scan.map { ($0.services ?? [], time, nil) }
            for peer in state.peers { peers[peer.info.identifier] = PeerHints(peer, at: time) }
        case .connectionChanged, .lost: break
        }
    }

    /// Counts an event that did not reach the app, because the peripheral had no delegate.
    mutating func loseEvent(of peer: UUID, at time: Duration) {
        peers[peer]?.loseEvent(at: time)
    }

    func hints(_ context: HintContext) -> [WorldHint] {
        let unmet = scan.map { [WorldHint(rank: .scan, text: text(of: $0, context), site: $0.site)] } ?? []
        return unmet + peers.values.sorted { $0.since < $1.since }.flatMap { $0.hints(context) }
    }

    private func text(of scan: (services: [BluetoothUUID], since: Duration, site: CallSite?), _ context: HintContext)
        -> String
    {
        let wanted = scan.services.isEmpty ? "any services" : AssignedNumbers.titles(of: scan.services)
        let advertised = context.surroundings.advertised.sorted { $0.key < $1.key }
        let heard = advertised.map { name, services in
            "\"\(name)\" with \(services.isEmpty ? "no services" : AssignedNumbers.titles(of: services))"
                + context.surroundings.lastChange(of: name)
        }
        return
            "\(context.owner.text) has scanned for \(wanted) since \(WorldWords.time(scan.since)) and discovered nothing; "
            + (heard.isEmpty ? "no app has advertised" : "advertised were: \(heard.joined(separator: "; "))")
    }
}

/// The causes of failures that the messages of a manager about one peer show.
struct PeerHints {
    /// The time after which an unanswered connection request is worth a hint.
    private static let connectionTimeout = Duration.seconds(10)
    /// The octets of a value that fit into the smallest MTU, beside the header.
    private static let smallestWrite = 20

    private enum Link {
        case settled
        case requested
        /// Connected since the app's last connection request; the app has not used the link yet.
        case idle
        case used
        /// Released by the app while it connected or was connected.
        case released
        /// The last event was an error, and the app has not reacted.
        case failed(String)
        /// A discovery found nothing, and the app has not reacted.
        case nothingFound(String)
        /// The link ended, and the app has not reacted.
        case ended(String)
    }

    /// A request without its answer.
    private struct Awaited {
        let answer: AnswerKey
        let observation: Observation
        let services: [BluetoothUUID]?
        let since: Duration
    }

    var name: String?
    private(set) var since = Duration.zero
    /// The call that ``link`` follows from: the last connection request, or the request that failed.
    private var site: CallSite?
    private var link = Link.settled
    private var isConnected = false
    private var connections = 0
    private var isRestored = false
    private var awaited: [Awaited] = []
    /// The oldest request without an answer when a link ended.
    private var unanswered: (request: Awaited, end: Duration)?
    private var lost: (count: Int, since: Duration)?
    private var lastEnd: (text: String, time: Duration)?
    private var maximumWrite: Int?
    private var isMTUReached = false

    init() {}

    /// A peripheral of a manager that was restored.
    init(_ peer: RestoredPeer, at time: Duration) {
        (name, since, isRestored) = (peer.info.name, time, true)
        isConnected = peer.maximumWriteWithoutResponse != nil
        link = !isConnected ? .requested : peer.services.isEmpty ? .idle : .used
        connections = isConnected ? 1 : 0
    }

    mutating func add(_ request: PeerRequest, _ observation: Observation, at time: Duration) {
        switch request {
        case .connect: set(.requested, at: time, from: observation.site)
        case .cancelConnection:
            isConnected = false
            set(.settled, at: time)
        case .forget:
            if case .requested = link { return set(.released, at: time) }
            if isConnected { set(.released, at: time) }
        case .link(let request), .ask(_, let request): add(request, observation, at: time)
        }
    }

    private mutating func add(_ request: LinkRequest, _ observation: Observation, at time: Duration) {
        set(.used, at: time)
        if case .writeWithoutResponse(_, let value) = request { noteLength(value.count) }
        guard let answer = AnswerKey(request), awaited.count < WorldHints.maximumRequests else { return }
        awaited.append(Awaited(answer: answer, observation: observation, services: request.uuids, since: time))
    }

    mutating func add(_ event: PeerEvent, at time: Duration) {
        let request = AnswerKey(event).flatMap { key in awaited.firstIndex { $0.answer == key } }.map {
            awaited.remove(at: $0)
        }
        if let request, unanswered?.request.answer == request.answer { unanswered = nil }
        switch event {
        case .connected(let name, let maximumWrite):
            if let name { self.name = name }
            (isConnected, awaited, self.maximumWrite, isMTUReached) = (true, [], maximumWrite, false)
            connections += 1
            set(.idle, at: time)
        case .disconnected(let error, let isReconnecting, timestamp: _):
            if let first = awaited.first { unanswered = (first, time) }
            (isConnected, awaited) = (false, [])
            if case .released = link { return }
            lastEnd = error.map { (Self.text(of: $0), time) }
            let end = error.map { Link.ended(Self.text(of: $0)) } ?? .settled
            set(isReconnecting ? .requested : end, at: time)
        case .maximumWriteLengthChanged(let length): maximumWrite = length
        case .valueNotified(_, let value): noteLength(value.count)
        case .servicesDiscovered(.success(let found)) where found.isEmpty: findNothing("services", request, at: time)
        case .characteristicsDiscovered(of: _, .success(let found)) where found.isEmpty:
            findNothing("characteristics", request, at: time)
        default:
            guard let (what, error) = event.failure else { return }
            set(.failed("\(what): \(Self.text(of: error))"), at: time, from: request?.observation.site)
        }
    }

    mutating func loseEvent(at time: Duration) {
        lost = ((lost?.count ?? 0) + 1, lost?.since ?? time)
    }

    private mutating func findNothing(_ what: String, _ request: Awaited?, at time: Duration) {
        let wanted = request?.services.map { ": \(AssignedNumbers.titles(of: $0))" } ?? ""
        set(.nothingFound("\(what)\(wanted)"), at: time, from: request?.observation.site)
    }

    private mutating func noteLength(_ octets: Int) {
        if octets == Self.smallestWrite, maximumWrite == Self.smallestWrite { isMTUReached = true }
    }

    /// - Parameter site: The call that this follows from; by default the one before.
    private mutating func set(_ link: Link, at time: Duration, from site: CallSite? = nil) {
        (self.link, since, self.site) = (link, time, site ?? self.site)
    }

    private static func text(of error: ServiceError) -> String { error.reason ?? "\(error.code)" }
}

// MARK: - Words

extension PeerHints {
    private var title: String { name.map { "\"\($0)\"" } ?? "a peer" }

    func hints(_ context: HintContext) -> [WorldHint] {
        [lostText(context), waitText(context), mtuText(context), linkHint(context)].compactMap(\.self)
    }

    private func lostText(_ context: HintContext) -> WorldHint? {
        guard let lost else { return nil }
        let place = isRestored ? "in centralManager(_:willRestoreState:)" : "before the first request"
        let kind = isRestored ? "restored CBPeripheral" : "CBPeripheral"
        return WorldHint(
            rank: .lostEvents,
            text: "\(context.owner.text) has no delegate for the \(kind) \(title): \(lost.count) "
                + "event\(lost.count == 1 ? "" : "s") since \(WorldWords.time(lost.since)) reached nothing; set "
                + "peripheral.delegate \(place)",
            site: site
        )
    }

    /// Who waits for which answer, and since when.
    private func waitText(_ context: HintContext) -> WorldHint? {
        let device = context.owner.device
        if let first = awaited.first, context.now - first.since >= ManagerHints.responseTimeout {
            let time = WorldWords.duration(.seconds((context.now - first.since).components.seconds))
            let others = awaited.count > 1 ? ", with \(awaited.count - 1) later requests behind it" : ""
            return WorldHint(
                rank: .awaited,
                text:
                    "\(context.owner.text) has waited for an answer of \(title) since \(WorldWords.time(first.since)), "
                    + "\(time)\(others): \(context.words.message(first.observation, of: device))"
                    + context.surroundings.lastChange(of: name),
                site: first.observation.site
            )
        }
        guard let (request, end) = unanswered, end - request.since >= ManagerHints.responseTimeout else { return nil }
        return WorldHint(
            rank: .awaited,
            text:
                "\(context.owner.text) got no answer of \(title) from \(WorldWords.time(request.since)) until the link "
                + "ended at \(WorldWords.time(end)): \(context.words.message(request.observation, of: device)); a request times "
                + "out after 30 s, which ends the link" + context.surroundings.lastChange(of: name),
            site: request.observation.site
        )
    }

    private func mtuText(_ context: HintContext) -> WorldHint? {
        guard isMTUReached else { return nil }
        return WorldHint(
            rank: .smallMTU,
            text:
                "\(context.owner.text) has an MTU of 23 with \(title), which agreed on no larger one: longer values are cut "
                + "to 20 octets; ask maximumWriteValueLength(for:) before each write"
        )
    }

    private func linkHint(_ context: HintContext) -> WorldHint? {
        guard let (rank, text) = linkText(context) else { return nil }
        return WorldHint(rank: rank, text: "\(context.owner.text) \(text)", site: site)
    }

    private func linkText(_ context: HintContext) -> (WorldHint.Rank, String)? {
        let start = WorldWords.time(since)
        switch link {
        case .settled, .used: return nil
        case .requested:
            guard context.now - since >= Self.connectionTimeout else { return nil }
            return (.link, "has waited for a connection to \(title) since \(start): \(waiting(context))")
        case .released:
            let text = "released the CBPeripheral of \(title) at \(start), which canceled its connection"
            return (.released, "\(text): keep the peripheral in a property")
        case .idle:
            let again = connections > 1 ? " again, whose services have to be discovered again," : ""
            let text = "connected to \(title)\(again) at \(start) and made no request since"
            return (.idle, "\(text): services is nil until discoverServices(_:) has found them")
        case .failed(let text):
            return (.failed, "received an error of \(title) at \(start) and made no request since: \(text)")
        case .nothingFound(let text):
            return (
                .nothingFound, "made no request of \(title) since \(start), when it discovered none of these \(text)"
            )
        case .ended(let text):
            let change = context.surroundings.lastChange(of: name)
            return (.link, "lost its link to \(title) at \(start) and made no request since: \(text)\(change)")
        }
    }

    private func waiting(_ context: HintContext) -> String {
        let end = lastEnd.map { "; the link ended at \(WorldWords.time($0.time)): \($0.text)" } ?? ""
        return "a connection request never times out, so the app has to cancel it\(end)"
            + context.surroundings.lastChange(of: name)
    }
}

/// What an answer and its request have in common.
package struct AnswerKey: Hashable, Sendable {
    private enum Kind: Sendable {
        case services, includedServices, characteristics, descriptors, read, readDescriptor, write, writeDescriptor,
            notify
        case rssi, channel
    }

    private let kind: Kind
    private let handle: UInt16

    private init(_ kind: Kind, _ handle: UInt16 = 0) {
        (self.kind, self.handle) = (kind, handle)
    }

    /// The answer that a request waits for; nil for requests without one.
    package init?(_ request: LinkRequest) {
        switch request {
        case .discoverServices: self.init(.services)
        case .discoverIncludedServices(of: let handle, _): self.init(.includedServices, handle)
        case .discoverCharacteristics(of: let handle, _): self.init(.characteristics, handle)
        case .discoverDescriptors(of: let handle): self.init(.descriptors, handle)
        case .readCharacteristic(let handle): self.init(.read, handle)
        case .readDescriptor(let handle): self.init(.readDescriptor, handle)
        case .writeCharacteristic(let handle, value: _): self.init(.write, handle)
        case .writeDescriptor(let handle, value: _): self.init(.writeDescriptor, handle)
        case .setNotify(let handle, isEnabled: _): self.init(.notify, handle)
        case .readRSSI: self.init(.rssi)
        case .openChannel(let psm): self.init(.channel, psm)
        case .writeWithoutResponse, .startChannelSounding, .cancelChannelSounding, .refreshServices,
            .readLinkInformation,
            .watchLink, .preferLink:
            return nil
        }
    }

    /// The answer that an event is; nil for events that answer nothing.
    package init?(_ event: PeerEvent) {
        switch event {
        case .servicesDiscovered: self.init(.services)
        case .includedServicesDiscovered(of: let handle, _): self.init(.includedServices, handle)
        case .characteristicsDiscovered(of: let handle, _): self.init(.characteristics, handle)
        case .descriptorsDiscovered(of: let handle, _): self.init(.descriptors, handle)
        case .valueRead(let handle, _): self.init(.read, handle)
        case .descriptorUpdated(let handle, _): self.init(.readDescriptor, handle)
        case .valueWritten(let handle, _): self.init(.write, handle)
        case .descriptorWritten(let handle, _): self.init(.writeDescriptor, handle)
        case .notifyStateChanged(let handle, isNotifying: _, _): self.init(.notify, handle)
        case .rssiRead: self.init(.rssi)
        case .channelOpened(let psm, _): self.init(.channel, psm)
        default: return nil
        }
    }
}

extension LinkRequest {
    /// The attributes that a discovery looks for.
    fileprivate var uuids: [BluetoothUUID]? {
        switch self {
        case .discoverServices(let uuids), .discoverCharacteristics(of: _, let uuids),
            .discoverIncludedServices(of: _, let uuids):
            uuids
        default: nil
        }
    }
}

extension PeerEvent {
    /// The error of a request, and what was requested.
    fileprivate var failure: (what: String, error: ServiceError)? {
        switch self {
        case .connectionFailed(let error): ("connecting", error)
        case .servicesDiscovered(.failure(let error)): ("discovering services", error)
        case .characteristicsDiscovered(of: _, .failure(let error)): ("discovering characteristics", error)
        case .descriptorsDiscovered(of: _, .failure(let error)): ("discovering descriptors", error)
        case .valueRead(_, .failure(let error)): ("reading a value", error)
        case .valueWritten(_, let error?): ("writing a value", error)
        case .descriptorWritten(_, let error?): ("writing a descriptor", error)
        case .notifyStateChanged(_, isNotifying: _, let error?): ("subscribing", error)
        case .channelOpened(psm: _, .failure(let error)): ("opening a channel", error)
        default: nil
        }
    }
}
