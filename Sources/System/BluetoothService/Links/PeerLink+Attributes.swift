import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import Security
import ServiceMessages

extension PeerLink {
    /// How long the fastest answer of Apple's service takes, whose messages go to another process and back. Apps rely
    /// on it: some start to wait for an answer only after they have asked.
    private static let messageDelay = Duration.microseconds(250)

    /// Queues a procedure for a manager, and reports the event that it finishes with. Fails at once if too many
    /// requests are waiting (AB-G05).
    ///
    /// - Parameter attribute: The only attribute that the procedure reads; it may then run beside others if the link
    ///   has enhanced bearers. Nil for an exclusive procedure.
    func run(
        lookingAt attribute: AttributeHandle? = nil,
        for asker: Asker,
        orFail failure: (ServiceError) -> PeerEvent,
        _ procedure: @escaping (PeerLink, _ finish: @escaping (PeerEvent?) -> Void) -> Void
    ) {
        let isAccepted = operations.add(lookingAt: attribute, for: asker) { [weak self] finish in
            guard let self, asker.user.isLive else { return finish(nil) }
            var isStarting = true
            procedure(self) { [weak self] event in
                guard isStarting, let self else { return finish(event) }
                // What is known without asking the peer.
                host.loop.schedule(after: Self.messageDelay) { finish(event) }
            }
            isStarting = false
        }
        if !isAccepted { asker.answer(failure(.linkIsFull)) }
    }

    /// Discovers the primary services named in the list; nil or an empty list means all (behaviour 4.1).
    func discoverServices(_ uuids: [BluetoothUUID]?, for asker: Asker) {
        run(for: asker, orFail: { .servicesDiscovered(.failure($0)) }) { link, finish in
            link.loadServices { result in
                let found = result.map { link.found($0, by: asker.user) { uuids.names($0.uuid) } }
                finish(.servicesDiscovered(found))
            }
        }
    }

    /// Returns the services that a manager has discovered, without those hidden from apps.
    func found(
        _ services: [RemoteService],
        by user: Attachment,
        where isWanted: (RemoteService) -> Bool = { _ in true }
    ) -> [RemoteService] {
        user.found(services.visible, at: \.handle, where: isWanted)
    }

    /// Discovers the services that the service at `handle` includes.
    func discoverIncludedServices(_ uuids: [BluetoothUUID]?, of handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.includedServicesDiscovered(of: handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            link.loadIncludedServices(of: handle) { result in
                finish(event(result.map { asker.user.found($0.visible, at: \.handle) { uuids.names($0.uuid) } }))
            }
        }
    }

    /// Discovers the characteristics of the service at `handle`.
    func discoverCharacteristics(_ uuids: [BluetoothUUID]?, of handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.characteristicsDiscovered(of: handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            link.loadCharacteristics(of: handle) { result in
                let found = result.map { asker.user.found($0, at: \.value) { uuids.names($0.uuid) } }
                finish(event(found.map { $0.map { RemoteCharacteristic($0, value: link.database.values[$0.value]) } }))
            }
        }
    }

    /// Discovers all descriptors of the characteristic whose value is at `handle`.
    func discoverDescriptors(of handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.descriptorsDiscovered(of: handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            link.loadDescriptors(of: handle) { finish(event($0)) }
        }
    }
}

// MARK: - Reads through the cache

extension PeerLink {
    /// Discovers the services, anew if they change meanwhile.
    ///
    /// - Parameter attempts: How often to discover them if they change each time.
    func loadServices(
        attempts: Int = 3,
        _ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void
    ) {
        if let services = database.services { return completion(.success(services)) }
        client.discoverServices { [weak self, before = client.databaseChanges] result in
            let found = result.map { $0.map { RemoteService($0, isPrimary: true) } }.mapError(ServiceError.init)
            if let self, case .success(let services) = found {
                if client.databaseChanges == before {
                    explored(services)
                } else if attempts > 1 {
                    return loadServices(attempts: attempts - 1, completion)
                }
            }
            completion(found)
        }
    }

    /// Stores what a discovery found, unless the services have changed since it began: part of it may predate the
    /// change (AB-A11).
    private func remember(since before: UInt64, _ store: (inout RemoteDatabase) -> Void) {
        if client.databaseChanges == before { store(&database) }
    }

    /// Stores the services, and on the first discovery notifies the managers that watch connections by service
    /// (behaviour 3.22).
    private func explored(_ found: [RemoteService]) {
        let isFirst = services.isEmpty
        database.services = found
        services = Set(found.map(\.uuid))
        if isFirst { host.explored(self) }
    }

    private func loadIncludedServices(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.includedServices(of: handle) { return completion(.success(known)) }
        let others = database.allServices.map { DiscoveredService($0) }
        client.discoverIncludedServices(of: DiscoveredService(service), among: others) {
            [weak self, before = client.databaseChanges] result in
            let found = result.map { services in
                services.map { service in
                    let isPrimary = self?.database.services?.contains { $0.handle == service.handles.lowerBound }
                    return RemoteService(service, isPrimary: isPrimary ?? false)
                }
            }.mapError(ServiceError.init)
            guard let self, case .success(let services) = found, client.databaseChanges == before else {
                return completion(found)
            }
            let kept = database.setIncludedServices(services, of: handle)
            if kept.count < services.count { noticed(TableFlaw(.tooManyIncluded, at: handle)) }
            completion(.success(kept))
        }
    }

    private func loadCharacteristics(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[DiscoveredCharacteristic], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.characteristics(of: handle) { return completion(.success(known)) }
        let others = database.allServices.map { DiscoveredService($0) }
        client.discoverCharacteristics(of: DiscoveredService(service), among: others) {
            [weak self, before = client.databaseChanges] result in
            if case .success(let found) = result {
                self?.remember(since: before) { $0.setCharacteristics(found, of: handle) }
            }
            completion(result.mapError(ServiceError.init))
        }
    }

    private func loadDescriptors(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[RemoteDescriptor], ServiceError>) -> Void
    ) {
        guard let characteristic = database.characteristic(at: handle) else {
            return completion(.failure(.unknown(handle)))
        }
        if let known = database.descriptors(of: handle) { return completion(.success(known)) }
        client.discoverDescriptors(of: characteristic) { [weak self, before = client.databaseChanges] result in
            let found = result.map { $0.map { RemoteDescriptor(handle: $0.handle, uuid: $0.uuid) } }
                .mapError(ServiceError.init)
            if case .success(let descriptors) = found {
                self?.remember(since: before) { $0.setDescriptors(descriptors, of: handle) }
            }
            completion(found)
        }
    }
}

// MARK: - Refreshing the services (behaviour 15.6)

extension PeerLink {
    /// Forgets all cached services, on this link and beyond it, notifies all managers on the link, and discovers the
    /// services anew.
    func refreshServices(for asker: Asker) {
        run(for: asker, orFail: { .servicesDiscovered(.failure($0)) }) { link, finish in
            link.forgetTable { [weak link] in
                guard let link else { return finish(.servicesDiscovered(.failure(.unknown(1)))) }
                link.loadServices { result in
                    finish(.servicesDiscovered(result.map { link.found($0, by: asker.user) }))
                }
            }
        }
    }

    private func forgetTable(_ done: @escaping () -> Void) {
        client.cache = AttributeCache()
        host.peers.remember(nil, of: peer)
        servicesChanged(0x0001...0xFFFF)
        guard tableIsBonded, let bond = secureLink.bond else { return done() }
        host.peers.note(bond.identifier) { $0.cache = nil }
        client.readDatabaseHash { _ in done() }
    }
}

// MARK: - Reading and writing

extension PeerLink {
    /// Reads a characteristic for a manager.
    func read(_ handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.valueRead(handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            guard link.database.characteristic(at: handle) != nil else {
                return finish(event(.failure(.unknown(handle))))
            }
            link.client.read(handle) {
                if case .success(let value) = $0 { link.database.remember(value, of: handle) }
                finish(event($0.mapError(link.serviceError)))
            }
        }
    }

    /// Reads a descriptor for a manager.
    func readDescriptor(_ handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.descriptorUpdated(handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            guard link.database.descriptor(at: handle) != nil else {
                return finish(event(.failure(.unknown(handle))))
            }
            link.client.read(handle) { finish(event($0.mapError(link.serviceError))) }
        }
    }

    /// Writes a characteristic with response for a manager.
    func write(_ value: PacketBuffer, to handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.valueWritten(handle, $0) }
        run(for: asker, orFail: event) { link, finish in
            guard link.database.characteristic(at: handle) != nil else { return finish(event(.unknown(handle))) }
            link.client.write(value, to: handle) { finish(event($0.failure.map(link.serviceError))) }
        }
    }

    /// Writes a descriptor for a manager. The client configuration can only be written by the system (behaviour 4.7).
    func writeDescriptor(_ value: PacketBuffer, to handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.descriptorWritten(handle, $0) }
        run(for: asker, orFail: event) { link, finish in
            guard let descriptor = link.database.descriptor(at: handle) else {
                return finish(event(.unknown(handle)))
            }
            guard descriptor.uuid != GATTUUID.clientConfiguration else {
                return finish(event(ServiceError(.invalidParameters, reason: "only the system writes this descriptor")))
            }
            link.client.write(value, to: handle) { finish(event($0.failure.map(link.serviceError))) }
        }
    }

    /// Queues a write without response (behaviours 5.11 to 5.13).
    func writeWithoutResponse(_ value: PacketBuffer, to handle: AttributeHandle, for user: Attachment) {
        user.spendWriteCredit()
        guard let characteristic = database.characteristic(at: handle),
            characteristic.properties.contains(.writeWithoutResponse)
        else {
            host.observers.misuse(
                "a write without response was dropped because the attribute does not support it",
                by: user.subject
            )
            return user.returnWriteCredit(waiting: waitingCommands(of: user))
        }
        guard waitingCommands(of: user) < ServiceLimits.writesWithoutResponse else {
            return host.observers.misuse(
                "a write without response was dropped because the queue is full",
                by: user.subject
            )
        }
        commands.append((user, handle, value))
        sendCommands()
    }

    /// Sends queued writes in order while the link accepts them.
    func sendCommands() {
        while let command = commands.first, client.write(command.value, withoutResponseTo: command.handle) {
            commands.removeFirst()
            command.user.returnWriteCredit(waiting: waitingCommands(of: command.user))
        }
    }

    private func waitingCommands(of user: Attachment) -> Int {
        commands.reduce(0) { $0 + ($1.user === user ? 1 : 0) }
    }
}

// MARK: - Subscriptions

extension PeerLink {
    /// Subscribes or unsubscribes a manager (behaviours 5.16 to 5.18).
    func setNotify(_ isEnabled: Bool, _ handle: AttributeHandle, for asker: Asker) {
        guard let characteristic = database.characteristic(at: handle) else {
            return asker.answer(.notifyStateChanged(handle, isNotifying: false, .unknown(handle)))
        }
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
            let error = ServiceError(
                att: ATTStatus(rawValue: 0x06),
                reason: "the characteristic supports neither notifications nor indications"
            )
            return asker.answer(.notifyStateChanged(handle, isNotifying: false, error))
        }
        subscription(handle, .request(asker.user.key, enabled: isEnabled, number: asker.number))
    }

    func subscription(_ handle: AttributeHandle, _ event: SubscriptionArbiter<ManagerKey>.Event) {
        let actions = subscriptions[handle, default: SubscriptionArbiter()].handle(event)
        for action in actions {
            switch action {
            case .write(let isEnabled):
                writeConfiguration(isEnabled, of: handle)
            case .report(let manager, let isNotifying, let error, let number):
                guard let user = users.first(where: { $0.key == manager }) else { continue }
                let event = PeerEvent.notifyStateChanged(handle, isNotifying: isNotifying, error)
                Asker(user: user, number: number).answer(event)
            }
        }
        if subscriptions[handle]?.isIdle == true { subscriptions[handle] = nil }
    }

    private func writeConfiguration(_ isEnabled: Bool, of handle: AttributeHandle) {
        let isAccepted = operations.add { [weak self] done in
            guard let self, let characteristic = database.characteristic(at: handle) else {
                self?.configurationWritten(handle, .failure(.unknown(handle)))
                return done()
            }
            client.setNotifying(isEnabled, characteristic) { [weak self] result in
                guard let self else { return done() }
                let isAbsent = result.failure?.lacksConfiguration ?? false
                configurationWritten(handle, result.mapError(serviceError), mayListen: isAbsent)
                done()
            }
        }
        if !isAccepted { configurationWritten(handle, .failure(.linkIsFull)) }
    }

    /// Ends the pending write of a subscription. After Service Changed the subscription may be gone; at the end of the
    /// link nothing is reported (behaviour 3.39).
    ///
    /// - Parameter mayListen: Whether the peer has no client configuration, so that the manager receives what the peer
    ///   sends without one, up to ``maximumListened`` characteristics (behaviour 4.21, AB-A09).
    private func configurationWritten(
        _ handle: AttributeHandle,
        _ result: Result<Void, ServiceError>,
        mayListen: Bool = false
    ) {
        guard let arbiter = subscriptions[handle], !isOver else { return }
        if mayListen, case .failure(let error) = result,
            arbiter.hasListeners || subscriptions.values.count(where: \.hasListeners) < Self.maximumListened
        {
            subscription(handle, .absent(error))
        } else {
            subscription(handle, .written(result))
        }
    }

    /// Delivers a notification or indication to the managers that asked for it. Other values are dropped (AB-A09).
    func valueArrived(_ value: PacketBuffer, of handle: AttributeHandle) {
        guard let arbiter = subscriptions[handle] else { return }
        operations.reportKnownOutcomes(of: handle)
        if users.contains(where: { $0.showsAlerts && arbiter.delivers(to: $0.key) }) {
            host.alert(.notified, of: peer)
        }
        for user in users where arbiter.delivers(to: user.key) { user.emit(.valueNotified(handle, value)) }
    }
}

// MARK: - Restoration

extension PeerLink {
    /// Replaces the attachment of an ended process by a new one, and drops the writes that the process had queued.
    func renew(_ user: Attachment) -> Attachment {
        commands.removeAll { $0.user === user }
        let new = user.renewed()
        replace(user, by: new)
        return new
    }

    /// The peer's state for a manager that is connected to it.
    func restored(for user: Attachment, _ info: PeerInfo) -> RestoredPeer {
        RestoredPeer(info: info, maximumWriteWithoutResponse: maximumCommandLength, services: services(for: user))
    }

    /// The services that a manager has discovered (behaviour 10.9).
    private func services(for user: Attachment) -> [RestoredService] {
        (database.services ?? []).visible.filter { user.knows($0.handle) }.map { service in
            let characteristics = (database.characteristics(of: service.handle) ?? []).filter { user.knows($0.value) }
            return RestoredService(
                service: service,
                includedServices: (database.includedServices(of: service.handle) ?? []).visible.filter {
                    user.knows($0.handle)
                },
                characteristics: characteristics.map { restored($0, for: user) }
            )
        }
    }

    private func restored(_ found: DiscoveredCharacteristic, for user: Attachment) -> RestoredCharacteristic {
        RestoredCharacteristic(
            characteristic: RemoteCharacteristic(found, value: database.values[found.value]),
            isNotifying: subscriptions[found.value]?.subscribers.contains(user.key) ?? false,
            descriptors: database.descriptors(of: found.value) ?? []
        )
    }
}

extension ServiceError {
    /// The error for a handle that is unknown, or no longer valid (behaviour 4.16).
    static func unknown(_ handle: AttributeHandle) -> ServiceError {
        ServiceError(.invalidHandle, reason: "no attribute with the handle \(handle) has been discovered")
    }
}

extension RemoteService {
    fileprivate init(_ service: DiscoveredService, isPrimary: Bool) {
        self.init(
            handle: service.handles.lowerBound,
            endHandle: service.handles.upperBound,
            uuid: service.uuid,
            isPrimary: isPrimary
        )
    }
}

extension DiscoveredService {
    fileprivate init(_ service: RemoteService) {
        self.init(handles: service.handle...max(service.handle, service.endHandle), uuid: service.uuid)
    }
}

extension RemoteCharacteristic {
    init(_ characteristic: DiscoveredCharacteristic, value: PacketBuffer?) {
        self.init(
            handle: characteristic.value,
            uuid: characteristic.uuid,
            properties: characteristic.properties.rawValue,
            value: value
        )
    }
}

extension [RemoteService] {
    var visible: [RemoteService] { filter { !HiddenServices.contains($0.uuid) } }
}

extension [BluetoothUUID]? {
    /// Whether the list of UUIDs contains this one; nil or an empty list contains all.
    fileprivate func names(_ uuid: BluetoothUUID) -> Bool {
        guard let self, !self.isEmpty else { return true }
        return self.contains(uuid)
    }
}

extension Result where Failure == GATTError {
    /// The error of a failure; nil on success.
    fileprivate var failure: GATTError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
