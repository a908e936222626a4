import BluetoothTypes
import Foundation
import GATT

extension PeerLink {
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
            procedure(self, finish)
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
    func loadServices(_ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void) {
        if let services = database.services { return completion(.success(services)) }
        client.discoverServices { [weak self] result in
            let found = result.map { $0.map { RemoteService($0, isPrimary: true) } }.mapError(ServiceError.init)
            if case .success(let services) = found { self?.explored(services) }
            completion(found)
        }
    }

    /// Stores the services, and on the first discovery notifies the managers that watch connections by service
    /// (behaviour 3.22).
    private func explored(_ found: [RemoteService]) {
        let isFirst = services.isEmpty
        database.services = found
        services = Set(found.map(\.uuid))
        if isFirst { system.tellWatchers(of: self, .explored) }
    }

    private func loadIncludedServices(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.includedServices(of: handle) { return completion(.success(known)) }
        client.discoverIncludedServices(of: DiscoveredService(service)) { [weak self] result in
            let found = result.map { services in
                services.map { service in
                    let isPrimary = self?.database.services?.contains { $0.handle == service.handles.lowerBound }
                    return RemoteService(service, isPrimary: isPrimary ?? false)
                }
            }.mapError(ServiceError.init)
            if case .success(let services) = found { self?.database.setIncludedServices(services, of: handle) }
            completion(found)
        }
    }

    private func loadCharacteristics(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[DiscoveredCharacteristic], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.characteristics(of: handle) { return completion(.success(known)) }
        client.discoverCharacteristics(of: DiscoveredService(service)) { [weak self] result in
            if case .success(let found) = result { self?.database.setCharacteristics(found, of: handle) }
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
        client.discoverDescriptors(of: characteristic) { [weak self] result in
            let found = result.map { $0.map { RemoteDescriptor(handle: $0.handle, uuid: $0.uuid) } }
                .mapError(ServiceError.init)
            if case .success(let descriptors) = found { self?.database.setDescriptors(descriptors, of: handle) }
            completion(found)
        }
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
