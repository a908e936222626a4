import BluetoothTypes
import Foundation
import GATT

extension PeerLink {
    /// Runs a procedure for a manager when its turn has come, and tells the manager the event that comes of it. With too
    /// much waiting it ends at once, with an error (AB-G05).
    ///
    /// - Parameter attribute: What it looks at, and nothing else; then it may go beside others, if the link has enhanced
    ///   bearers.
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
        if !isAccepted {
            asker.answer(failure(ServiceError(.outOfSpace, reason: "too many requests wait on this link")))
        }
    }

    /// Primary services that the list names; nil or empty means all (behaviour 4.1).
    func discoverServices(_ uuids: [BluetoothUUID]?, for asker: Asker) {
        run(for: asker, orFail: { .servicesDiscovered(.failure($0)) }) { link, finish in
            link.loadServices { result in
                let found = result.map { link.found($0, by: asker.user) { uuids.names($0.uuid) } }
                finish(.servicesDiscovered(found))
            }
        }
    }

    /// What a manager has found of services, those hidden from apps left out.
    func found(
        _ services: [RemoteService],
        by user: Attachment,
        where isWanted: (RemoteService) -> Bool = { _ in true }
    ) -> [RemoteService] {
        user.found(services.visible, at: \.handle, where: isWanted)
    }

    /// Services that the service at `handle` includes.
    func discoverIncludedServices(_ uuids: [BluetoothUUID]?, of handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.includedServicesDiscovered(of: handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            link.loadIncludedServices(of: handle) { result in
                finish(event(result.map { asker.user.found($0.visible, at: \.handle) { uuids.names($0.uuid) } }))
            }
        }
    }

    /// Characteristics of the service at `handle`.
    func discoverCharacteristics(_ uuids: [BluetoothUUID]?, of handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.characteristicsDiscovered(of: handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            link.loadCharacteristics(of: handle) { result in
                let found = result.map { asker.user.found($0, at: \.value) { uuids.names($0.uuid) } }
                finish(event(found.map { $0.map { RemoteCharacteristic($0, value: link.database.values[$0.value]) } }))
            }
        }
    }

    /// All descriptors of the characteristic whose value is at `handle`.
    func discoverDescriptors(of handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.descriptorsDiscovered(of: handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            link.loadDescriptors(of: handle) { finish(event($0)) }
        }
    }
}

// MARK: - From the cache, or else from the air

extension PeerLink {
    func loadServices(_ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void) {
        if let services = database.services { return completion(.success(services)) }
        client.discoverServices { [weak self] result in
            let found = result.map { $0.map { RemoteService($0, isPrimary: true) } }.mapError(ServiceError.init)
            if case .success(let services) = found { self?.explored(services) }
            completion(found)
        }
    }

    /// Who hears of connections by the services of a peer hears of this one now (behaviour 3.22).
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
        client.discoverIncludedServices(of: GATT.RemoteService(service)) { [weak self] result in
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
        _ completion: @escaping (Result<[GATT.RemoteCharacteristic], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.characteristics(of: handle) { return completion(.success(known)) }
        client.discoverCharacteristics(of: GATT.RemoteService(service)) { [weak self] result in
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
    /// A handle that stands for nothing, perhaps not any more (behaviour 4.16).
    static func unknown(_ handle: AttributeHandle) -> ServiceError {
        ServiceError(.invalidHandle, reason: "nothing is known of the attribute \(handle)")
    }
}

extension RemoteService {
    fileprivate init(_ service: GATT.RemoteService, isPrimary: Bool) {
        self.init(
            handle: service.handles.lowerBound,
            endHandle: service.handles.upperBound,
            uuid: service.uuid,
            isPrimary: isPrimary
        )
    }
}

extension GATT.RemoteService {
    fileprivate init(_ service: RemoteService) {
        self.init(handles: service.handle...max(service.handle, service.endHandle), uuid: service.uuid)
    }
}

extension RemoteCharacteristic {
    init(_ characteristic: GATT.RemoteCharacteristic, value: PacketBuffer?) {
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
    /// Whether a list of wanted UUIDs has this one; none, or an empty one, has all.
    fileprivate func names(_ uuid: BluetoothUUID) -> Bool {
        guard let self, !self.isEmpty else { return true }
        return self.contains(uuid)
    }
}
