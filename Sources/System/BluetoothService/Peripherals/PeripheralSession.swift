import ATT
import BluetoothTypes
import DequeModule
import EventLoops
import Foundation
import GAP
import GATT
import L2CAP
import ServiceMessages

/// One peripheral manager of an app: its services, its advertising, and the requests of centrals that it has to answer.
final class PeripheralSession: LinkServer {
    private struct Service {
        let id: LocalAttributeID
        let characteristics: [LocalAttributeID]
        let published: PublishedService
    }

    private let key: ManagerKey
    let manager: AppManager
    private unowned let links: SharedLinks
    private unowned let attributes: LocalAttributes
    private unowned let advertising: AdvertisingArbiter
    private let loop: any EventLoop
    private var services: [Service] = []
    private var handles: [LocalAttributeID: UInt16] = [:]
    private var requests = CentralRequests()
    private var updates = Deque<(handle: UInt16, value: PacketBuffer, centrals: [UUID]?)>()
    /// Whether the intent is being carried out again, rather than a request of the app (behaviour 7.25).
    private var isResuming = false
    private var credits = CreditBatch(limit: ServiceLimits.valueUpdates)
    private let channels: PublishedChannels
    /// The centrals that the app has received events of.
    private var knownCentrals: Set<UUID> = []
    private var watchesCentrals = false
    private var releasing: Set<UUID> = []

    /// - Parameters:
    ///   - attributes: The attribute table that all managers publish in.
    ///   - advertising: The advertisement that all managers share.
    ///   - servers: The servers of the L2CAP channels that apps publish.
    init(
        _ key: ManagerKey,
        of manager: AppManager,
        _ links: SharedLinks,
        _ attributes: LocalAttributes,
        _ advertising: AdvertisingArbiter,
        _ servers: ChannelServers
    ) {
        self.key = key
        self.manager = manager
        self.links = links
        self.attributes = attributes
        self.advertising = advertising
        loop = links.loop
        channels = PublishedChannels(links, servers, of: manager)
        channels.onOpen = { [weak self] psm, central, channel in
            self?.knownCentrals.insert(central.identifier)
            self?.emit(.channelOpened(psm: psm, central, channel))
        }
    }

    // Not stored: each manager would have a copy.
    private var configuration: SystemConfiguration { links.configuration }

    private func emit(_ event: PeripheralEvent) {
        manager.deliver(.peripheral(event), on: loop)
    }

    func answer(_ query: Query) -> Result<Reply, ServiceError> {
        .failure(ServiceError(.operationNotSupported, reason: "a peripheral manager does not support this query"))
    }

    var holdings: Holdings {
        Holdings(
            attributes: services.reduce(0) { $0 + $1.published.handles.count },
            publishedChannels: channels.count,
            channels: manager.channels.count,
            advertisers: isAdvertising ? 1 : 0
        )
    }

    private var isAdvertising: Bool { advertising.contains(key) }

    /// The current advertisement, or nil.
    var advertisedRequest: AdvertisingRequest? { isAdvertising ? manager.intent.advertisement : nil }

    func stateChanged(to state: ManagerState) {
        if state.rawValue < ManagerState.poweredOn.rawValue {
            _ = requests.removeAll()
            releasing.removeAll()
        }
        if state.rawValue < ManagerState.poweredOff.rawValue {
            // The table is cleared and advertising stops (behaviour 1.13).
            stopAll()
            manager.stopIntent()
        }
        // The app starts to count its credits anew after the state change.
        reportCredits()
        if manager.report(state, on: loop) { carryOutIntent() }
        pump()
    }

    /// Services that are still published, and their advertising, continue by themselves (behaviour 1.13).
    func carryOutIntent() {
        manager.beginIntent()
        isResuming = true
        for service in manager.intent.services where index(of: service.id) == nil { add(service) }
        if let advertisement = manager.intent.advertisement, !isAdvertising { startAdvertising(advertisement) }
        isResuming = false
    }

    private func stopAll() {
        advertising.remove(key)
        // In reverse order, because a service comes after those that it includes.
        for index in services.indices.reversed() { try? unpublish(at: index) }
        channels.unpublishAll()
    }

    func rulesChanged() { advertising.advertise(manager.lifecycle.rules.advertising, for: key) }

    func close() {
        advertising.remove(key)
        for request in requests.removeAll() { request.refuse(.unlikelyError) }
        updates.removeAll()
        credits.reset()
        stopAll()
    }

    func handle(_ request: Request) {
        guard case .peripheral(let request) = request else {
            return manager.misuse("a peripheral manager does not support \(request.name)")
        }
        guard state == .poweredOn else {
            if !manager.hasBeenPoweredOn {
                manager.misuse("\(request.name) is only accepted while the manager is powered on")
            }
            // The app sent the update while the radio was on, so it gets the credit back (behaviour 7.43).
            if case .updateValue = request {
                credits.spend()
                returnCredits(1)
            }
            return
        }
        switch request {
        case .addService(let service): add(service)
        case .removeService(let id): remove(id)
        case .removeAllServices: removeAllServices()
        case .startAdvertising(let request): startAdvertising(request)
        case .stopAdvertising: stopAdvertising()
        case .respond(let transaction, let status, let value): respond(transaction, status, value)
        case .updateValue(let characteristic, let value, let centrals): update(characteristic, value, centrals)
        case .setDesiredConnectionLatency(let central, let latency):
            links.link(to: central)?.requestLatency(latency)
        case .publishChannel(let needsEncryption, let number): publishChannel(needsEncryption, number)
        case .unpublishChannel(let psm): emit(.channelUnpublished(psm: psm, channels.unpublish(psm)))
        case .watchCentrals(let isWanted): watchCentrals(isWanted)
        case .disconnectCentral(let central): disconnect(central)
        }
    }

    private func publishChannel(_ needsEncryption: Bool, _ number: UInt32) {
        do throws(ServiceError) {
            if let error = configuration.version.error(lacking: .publishedChannels) { throw error }
            emit(.channelPublished(psm: try channels.publish(needsEncryption: needsEncryption), nil, number: number))
        } catch {
            emit(.channelPublished(psm: 0, error, number: number))
        }
    }

    // MARK: Services

    private func add(_ service: LocalService) {
        do throws(ServiceError) {
            let published = try publish(service)
            services.append(
                Service(id: service.id, characteristics: service.characteristics.map(\.id), published: published)
            )
            manager.apply(.peripheral(.addService(service)))
            // The app is not notified of services that are merely published again.
            if !isResuming { emit(.serviceAdded(service.id, nil)) }
        } catch {
            if isResuming { manager.apply(.peripheral(.removeService(service.id))) }
            emit(.serviceAdded(service.id, error))
        }
    }

    private func index(of service: LocalAttributeID) -> Int? { services.firstIndex { $0.id == service } }

    private func publish(_ service: LocalService) throws(ServiceError) -> PublishedService {
        guard services.count < ServiceLimits.servicesOfManager else {
            let limit = ServiceLimits.servicesOfManager
            throw ServiceError(.outOfSpace, reason: "a manager can publish at most \(limit) services")
        }
        guard index(of: service.id) == nil else {
            throw ServiceError(.invalidParameters, reason: "the service is already published")
        }
        var included: [UInt16] = []
        for id in service.includedServices {
            guard let other = index(of: id) else {
                throw ServiceError(.invalidParameters, reason: "an included service has to be published first")
            }
            included.append(services[other].published.handles.lowerBound)
        }
        let definition = try ServiceDefinition(
            service,
            includedServices: included,
            trust: configuration.protectedValuesRequirement,
            anyDescriptor: configuration.publishesAnyDescriptor
        )
        let count = GATTDatabase.attributeCount(of: definition)
        if let refusal = links.managers.refusal(
            of: count,
            "attributes",
            ServiceLimits.attributes,
            \.attributes,
            for: manager
        ) {
            throw refusal
        }
        if definition.takesSignedWrites { links.peers.wantSigningKeys() }
        let ids = service.characteristics.map(\.id)
        let published = try attributes.add(definition, ids, of: self)
        for (id, characteristic) in zip(ids, published.characteristics) { handles[id] = characteristic.value }
        return published
    }

    private func remove(_ id: LocalAttributeID) {
        guard let index = index(of: id) else {
            manager.apply(.peripheral(.removeService(id)))
            manager.misuse("the service to be removed is not published")
            return
        }
        do throws(ServiceError) {
            try unpublish(at: index)
            manager.apply(.peripheral(.removeService(id)))
        } catch {
            manager.misuse("the service was not removed: \(error.reason ?? "no reason")")
        }
    }

    private func unpublish(at index: Int) throws(ServiceError) {
        try attributes.remove(services[index].published)
        for characteristic in services.remove(at: index).characteristics { handles[characteristic] = nil }
    }

    /// Removes the services in reverse order, because a service comes after those that it includes.
    private func removeAllServices() {
        for service in services.reversed() { remove(service.id) }
        if services.isEmpty { manager.apply(.peripheral(.removeAllServices)) }
    }

    // MARK: Advertising

    private func startAdvertising(_ request: AdvertisingRequest) {
        guard !isAdvertising else {
            return emit(.advertisingStarted(ServiceError(.alreadyAdvertising), number: request.number))
        }
        if let refusal = refusal(of: request) {
            manager.apply(.peripheral(.stopAdvertising))
            return emit(.advertisingStarted(refusal, number: request.number))
        }
        manager.apply(.peripheral(.startAdvertising(request)))
        let goesOn = isResuming
        advertising.add(AdvertisingContent(request), for: key, manager.lifecycle.rules.advertising) {
            [weak self] error in
            let isCancelled = error?.code == .core(.operationCancelled)
            if error != nil, !isCancelled { self?.manager.apply(.peripheral(.stopAdvertising)) }
            // The app did not ask for a resumed start. A failure of the radio is reported as state (behaviour 1.13).
            if goesOn, error == nil || isCancelled { return }
            self?.emit(.advertisingStarted(error, number: request.number))
        }
    }

    /// Returns why an advertisement cannot start, or nil if it can.
    private func refusal(of request: AdvertisingRequest) -> ServiceError? {
        if let octets = request.manufacturerData?.count, octets < 2 {
            return ServiceError(
                .invalidParameters,
                reason: "manufacturer data have to begin with a company identifier of two octets"
            )
        }
        if let refusal = links.managers.refusal(
            "advertisements",
            ServiceLimits.advertisers,
            \.advertisers,
            for: manager
        ) {
            return refusal
        }
        let way = manager.lifecycle.rules.advertising
        let mayStart = configuration.mayStartAdvertisingInBackground
        // An advertisement that is resumed waits for the foreground if necessary, like that of an app that has moved to
        // the background (behaviours 7.24, 10.15).
        return isResuming || way == .whole || way == .hidden && mayStart ? nil : .startedInBackground
    }

    private func stopAdvertising() {
        manager.apply(.peripheral(.stopAdvertising))
        advertising.remove(key)
    }

    // MARK: Requests of centrals

    func didReceiveRead(_ request: GATTReadRequest, of characteristic: LocalAttributeID, from central: CentralInfo) {
        guard manager.lifecycle.rules.serves else { return request.respond(.failure(.notServed)) }
        receive(.read(request, characteristic), from: central)
    }

    func didReceiveWrite(_ request: GATTWriteRequest, _ writes: [WriteRequest], from central: CentralInfo) {
        guard manager.lifecycle.rules.serves else { return request.respond(.notServed) }
        guard !request.expectsResponse else { return receive(.write(request, writes), from: central) }
        knownCentrals.insert(central.identifier)
        emit(.writeRequested(transaction: requests.nextNumber(), central, writes, needsResponse: false))
    }

    private func receive(_ content: CentralRequests.Content, from central: CentralInfo) {
        knownCentrals.insert(central.identifier)
        guard requests.add(content, from: central) else { return content.refuse(.insufficientResources) }
        askApp()
    }

    private func askApp() {
        while let (id, content, central) = requests.next() {
            switch content {
            case .read(let request, let characteristic):
                emit(.readRequested(transaction: id, central, characteristic, offset: request.offset))
            case .write(_, let writes):
                emit(.writeRequested(transaction: id, central, writes, needsResponse: true))
            }
        }
    }

    /// Answers a request. Only the first answer counts (behaviour 7.33), and none to a write command (behaviour 7.36).
    private func respond(_ id: UInt64, _ status: ATTStatus, _ value: PacketBuffer?) {
        guard let content = requests.take(id) else { return }
        let failure = status == .success ? nil : ATTErrorCode(rawValue: status.rawValue)
        switch content {
        case .read(let request, _): request.respond(failure.map { .failure($0) } ?? .success(value ?? []))
        case .write(let request, _): request.respond(failure)
        }
        askApp()
    }

    /// Called when a central has disconnected. Drops its pending requests, and ends the app's events of it.
    func centralLeft(_ central: UUID) {
        knownCentrals.remove(central)
        requests.removeClosed()
        pump()
    }

    // MARK: Links of centrals

    private func watchCentrals(_ isWanted: Bool) {
        guard isWanted != watchesCentrals else { return }
        watchesCentrals = isWanted
        guard isWanted else { return }
        for link in links.all where link.servesCentral { centralConnected(link.centralInfo) }
    }

    func centralConnected(_ central: CentralInfo) {
        guard watchesCentrals else { return }
        knownCentrals.insert(central.identifier)
        emit(.centralConnected(central))
    }

    /// Called when a central has disconnected, before ``centralLeft(_:)``.
    func centralDisconnected(_ central: UUID, _ error: ServiceError?) {
        if watchesCentrals { emit(.centralDisconnected(central, error)) }
        if releasing.remove(central) != nil { emit(.centralReleased(central, nil)) }
    }

    /// Ends the link to a central, unless a central manager of this system uses it (behaviour 3.10).
    private func disconnect(_ central: UUID) {
        guard let link = links.link(to: central), link.servesCentral else {
            return emit(
                .centralReleased(
                    central,
                    ServiceError(.notConnected, reason: "the device is not connected as a central")
                )
            )
        }
        guard link.users.isEmpty else {
            let reason = "a central manager of this system is connected to the device"
            return emit(.centralReleased(central, ServiceError(.operationNotSupported, reason: reason)))
        }
        releasing.insert(central)
        link.disconnect()
    }

    // MARK: Restoration

    /// The published services, in the order of publishing.
    var publishedServices: [LocalService] { manager.intent.services.filter { index(of: $0.id) != nil } }

    private func subscribers(of characteristic: LocalAttributeID) -> [CentralInfo] {
        handles[characteristic].map(attributes.centrals.subscribers) ?? []
    }

    /// Drops what the ended process had queued. Requests that it did not answer are passed to the next process.
    private func forgetProcess() {
        updates.removeAll()
        credits.reset()
        releasing.removeAll()
        watchesCentrals = false
        channels.unpublishAll()
        requests.askAgain(attributes.centrals.central)
        askApp()
    }

    // MARK: Subscribers

    func subscriptionChanged(of central: CentralInfo, to characteristic: LocalAttributeID, isSubscribed: Bool) {
        knownCentrals.insert(central.identifier)
        emit(
            isSubscribed ? .subscribed(central, characteristic) : .unsubscribed(central, characteristic)
        )
    }

    func centralChanged(_ central: CentralInfo) {
        if knownCentrals.contains(central.identifier) { emit(.centralChanged(central)) }
    }

    private func update(_ characteristic: LocalAttributeID, _ value: PacketBuffer, _ centrals: [UUID]?) {
        guard updates.count < ServiceLimits.valueUpdates else {
            manager.misuse("a value update was dropped because the queue is full")
            return
        }
        guard let handle = handles[characteristic] else {
            manager.misuse("a value update was dropped because its characteristic is not published")
            credits.spend()
            return returnCredits(1)
        }
        credits.spend()
        updates.append((handle, value, centrals))
        pump()
    }

    /// Sends queued updates in order while the queues of the links have room (behaviour 7.43).
    func pump() {
        var sent = 0
        while let update = updates.first {
            let targets = update.centrals.map(attributes.centrals.sessions(of:))
            guard attributes.server.update(update.value, of: update.handle, for: targets) else { break }
            updates.removeFirst()
            sent += 1
        }
        if sent > 0 { returnCredits(sent) }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each attempt to send updates.
    private var brokenInvariant: String? {
        guard updates.count <= ServiceLimits.valueUpdates else { return "too many updates wait" }
        let published = services.reduce(0) { $0 + $1.characteristics.count }
        return handles.count <= published ? nil : "a characteristic that is not published has a handle"
    }

    private func returnCredits(_ count: Int) {
        guard credits.add(count, waiting: updates.count) else { return }
        loop.execute { [weak self] in self?.reportCredits() }
    }

    private func reportCredits() {
        let (count, isAwaited) = credits.take()
        guard count > 0 else { return }
        manager.deliver(.peripheral(.updateCreditsReturned(count)), on: loop, isAwaited: isAwaited)
    }
}

// MARK: - Restoration

extension PeripheralSession {
    /// Pending requests of centrals wait for the next process (behaviour 10.4).
    func stateToRestore() -> Event {
        forgetProcess()
        let subscriptions = services.flatMap(\.characteristics).flatMap { characteristic in
            subscribers(of: characteristic).map { RestoredSubscription(central: $0, characteristic: characteristic) }
        }
        return .peripheral(
            .willRestore(
                RestoredPeripheral(
                    services: manager.intent.services,
                    subscriptions: Array(subscriptions.prefix(ServiceLimits.restoredSubscriptions)),
                    advertising: manager.intent.advertisement
                )
            )
        )
    }
}

extension ATTErrorCode {
    /// The app that would answer is in the background without the background mode for it (behaviour 7.13).
    fileprivate static let notServed = ATTErrorCode.unlikelyError
}

extension ServiceError {
    /// Advertising was started in the background (behaviours 7.24 and 7.25).
    fileprivate static let startedInBackground = ServiceError(
        .unknown,
        reason: "advertising cannot be started in the background; start it in the foreground, and declare the mode "
            + "bluetooth-peripheral to continue it in the background"
    )
}

extension AdvertisingContent {
    fileprivate init(_ request: AdvertisingRequest) {
        let manufacturer = request.manufacturerData.map { [AdvertisingStructure(.manufacturerData, $0)] } ?? []
        let services = request.serviceData.map { AdvertisingStructure.serviceData($0.uuid.shortest, $0.value) }
        self.init(localName: request.localName, services: request.services, data: manufacturer + services)
    }
}
