import ATT
import BluetoothTypes
import DequeModule

/// The client of one peer's server.
///
/// Procedures start in the order in which they were asked for; with one bearer each waits for the one before (behaviour
/// 5.22), with several each takes the first that is free and keeps it. Each ends with exactly one call of its
/// completion, also when its bearer is closed. Writes without response and incoming values do not wait for them.
public final class GATTClient {
    /// Most services of a peer.
    public static let maximumServices = 256
    /// Most services that one service includes.
    public static let maximumIncludes = 64
    /// Most characteristics of a service, and most values found by their type.
    public static let maximumCharacteristics = 512
    /// Most descriptors of a characteristic.
    public static let maximumDescriptors = 64
    /// Most procedures that wait.
    public static let maximumWaitingProcedures = 256

    /// How a value arrived.
    public enum Arrival: Sendable {
        /// Notified, which nobody confirms.
        case notification
        /// Indicated, and confirmed.
        case indication
    }

    /// The peer's first bearer: the one on the fixed channel.
    public let bearer: ATTBearer
    /// The bearers that procedures may use, the first one first.
    public private(set) var bearers: [ATTBearer] = []
    /// Takes each value that the server sends by itself, except Service Changed. Whether anybody asked for it is for
    /// the owner to know.
    public var onValue: ((_ handle: UInt16, _ value: PacketBuffer, Arrival) -> Void)?
    /// Called with the handles of which nothing may be believed any more.
    public var onServiceChanged: ((ClosedRange<UInt16>) -> Void)?
    /// What has been found, when it is to be kept: discovery then goes on the air only for what is not in here. Nil at
    /// first: nothing is kept.
    public var cache: AttributeCache?
    /// What becomes of a request that the server refuses because this client holds old handles.
    public var outOfSyncPolicy = OutOfSyncPolicy.fail
    /// Where the peer's Service Changed is. Set by ``watchServices(completion:)``, or by an owner who remembers it.
    public var serviceChanged: UInt16?

    private var waiting = Deque<WaitingProcedure>()
    private var running: [(bearer: ATTBearer, isolation: GATTIsolation)] = []
    private var isStarting = false
    var configurationDescriptors: [UInt16: UInt16] = [:]
    /// Whether the hash is being read because the server has refused something, and who waits for it.
    var isRecovering = false
    var refused: [(_ isUnchanged: Bool) -> Void] = []

    /// A client on `bearer`, whose client callbacks it takes over.
    public init(bearer: ATTBearer) {
        self.bearer = bearer
        add(bearer)
    }

    /// Lets procedures use one more bearer of the same link, whose client callbacks the client takes over. Call
    /// ``remove(_:)`` when it is closed.
    public func add(_ bearer: ATTBearer) {
        bearers.append(bearer)
        bearer.onNotification = { [weak self] handle, value in self?.onValue?(handle, value, .notification) }
        bearer.onIndication = { [weak self] handle, value in self?.receive(handle, value) }
        startNext()
    }

    /// One of several bearers is closed. The procedure that was under way on it has failed.
    public func remove(_ bearer: ATTBearer) {
        bearers.removeAll { $0 === bearer }
        bearer.onNotification = nil
        bearer.onIndication = nil
        startNext()
    }

    /// Adds a procedure to the queue.
    ///
    /// - Parameter isRepeated: whether the server has refused it before because this client held old handles.
    func run<P: GATTProcedure>(
        _ procedure: P,
        isRepeated: Bool = false,
        completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        guard waiting.count < Self.maximumWaitingProcedures else { return completion(.failure(.queueFull)) }
        let start = { [self] (bearer: ATTBearer) in
            RunningProcedure(procedure, bearer) { [self] result in
                running.removeAll { $0.bearer === bearer }
                if case .failure(.att(let error)) = result, error.code == .databaseOutOfSync, !isRepeated {
                    refuse(procedure, completion)
                } else {
                    completion(result)
                }
                startNext()
            }.start()
        }
        waiting.append(WaitingProcedure(isolation: procedure.isolation, start: start))
        startNext()
    }

    /// Starts procedures as long as they end at once, without going deeper each time.
    private func startNext() {
        guard !isStarting else { return }
        isStarting = true
        while let next = waiting.first, let bearer = freeBearer(for: next) {
            waiting.removeFirst()
            running.append((bearer, next.isolation(bearer.mtu)))
            next.start(bearer)
        }
        isStarting = false
    }

    /// Where a procedure can begin now. With no bearer left it begins on the first one, to fail there.
    private func freeBearer(for next: WaitingProcedure) -> ATTBearer? {
        let open = bearers.filter { $0.closure == nil }
        let isFree = { [running] (bearer: ATTBearer) in !running.contains { $0.bearer === bearer } }
        guard let bearer = open.first(where: isFree) ?? (open.isEmpty && isFree(bearer) ? bearer : nil) else {
            return nil
        }
        switch next.isolation(bearer.mtu) {
        case .alone: return running.isEmpty ? bearer : nil
        case .preparesWrites: return running.allSatisfy { $0.isolation == .none } ? bearer : nil
        case .none: return running.contains { $0.isolation == .alone } ? nil : bearer
        }
    }
}

/// A procedure that waits for a bearer.
private struct WaitingProcedure {
    let isolation: (_ mtu: Int) -> GATTIsolation
    let start: (ATTBearer) -> Void
}

/// A procedure on its way.
private final class RunningProcedure<P: GATTProcedure> {
    private var procedure: P
    private let bearer: ATTBearer
    private let completion: (Result<P.Output, GATTError>) -> Void

    init(_ procedure: P, _ bearer: ATTBearer, completion: @escaping (Result<P.Output, GATTError>) -> Void) {
        self.procedure = procedure
        self.bearer = bearer
        self.completion = completion
    }

    func start() {
        follow(procedure.begin(mtu: bearer.mtu))
    }

    private func follow(_ step: GATTStep<P.Output>) {
        switch step {
        case .finished(let output): completion(.success(output))
        case .failed(let error): completion(.failure(error))
        case .request(let pdu):
            bearer.request(pdu) { [self] result in
                switch result {
                case .success(let response): follow(procedure.handle(response, mtu: bearer.mtu))
                case .failure(.response(let error)): follow(procedure.handle(error, mtu: bearer.mtu))
                case .failure(let error): completion(.failure(GATTError(error)))
                }
            }
        }
    }
}

// MARK: - Discovery

extension GATTClient {
    /// Finds all primary services, or those with a UUID (Core Vol 3 Part G 4.4).
    public func discoverServices(
        _ uuid: BluetoothUUID? = nil,
        completion: @escaping (Result<[RemoteService], GATTError>) -> Void
    ) {
        guard let uuid else { return discover(ServiceDiscovery(uuid: nil), at: \.services, completion: completion) }
        if let known = cache?.services { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(ServiceDiscovery(uuid: uuid), completion: completion)
    }

    /// Finds the services that a service includes (Vol 3 Part G 4.5.1).
    public func discoverIncludedServices(
        of service: RemoteService,
        completion: @escaping (Result<[RemoteService], GATTError>) -> Void
    ) {
        discover(IncludeDiscovery(of: service), at: \.includes[service.handles.lowerBound], completion: completion)
    }

    /// Finds all characteristics of a service, or those with a UUID (Vol 3 Part G 4.6).
    public func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil,
        of service: RemoteService,
        completion: @escaping (Result<[RemoteCharacteristic], GATTError>) -> Void
    ) {
        let path = \AttributeCache.characteristics[service.handles.lowerBound]
        guard let uuid else {
            return discover(CharacteristicDiscovery(in: service.handles, uuid: nil), at: path, completion: completion)
        }
        if let known = cache?[keyPath: path] { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(CharacteristicDiscovery(in: service.handles, uuid: uuid), completion: completion)
    }

    /// Finds all descriptors of a characteristic (Vol 3 Part G 4.7.1).
    public func discoverDescriptors(
        of characteristic: RemoteCharacteristic,
        completion: @escaping (Result<[RemoteDescriptor], GATTError>) -> Void
    ) {
        discover(
            DescriptorDiscovery(in: characteristic.descriptors),
            at: \.descriptors[characteristic.value],
            completion: completion
        )
    }
}

// MARK: - Reading and writing

extension GATTClient {
    /// Agrees with the peer on an MTU; see ``ATTBearer/exchangeMTU(completion:)``.
    public func exchangeMTU(completion: @escaping (Result<Int, GATTError>) -> Void) {
        bearer.exchangeMTU { completion($0.mapError(GATTError.init)) }
    }

    /// Reads the whole value of a characteristic or descriptor, however long it is.
    public func read(_ handle: UInt16, completion: @escaping (Result<PacketBuffer, GATTError>) -> Void) {
        run(ReadProcedure(handle), completion: completion)
    }

    /// Reads a value from an octet on, which is an error when the value ends before it (Vol 3 Part G 4.8.3).
    public func read(
        _ handle: UInt16,
        from offset: UInt16,
        completion: @escaping (Result<PacketBuffer, GATTError>) -> Void
    ) {
        run(ReadProcedure(handle, offset: offset), completion: completion)
    }

    /// Reads the values of a type in a range of handles; long ones only their first part.
    public func readValues(
        of uuid: BluetoothUUID,
        in handles: ClosedRange<UInt16> = 1...0xFFFF,
        completion: @escaping (Result<[RemoteValue], GATTError>) -> Void
    ) {
        run(ReadByTypeProcedure(uuid, in: handles), completion: completion)
    }

    /// Reads two values or more whose lengths the caller knows; they come one behind the other.
    public func readMultiple(
        _ handles: [UInt16],
        completion: @escaping (Result<PacketBuffer, GATTError>) -> Void
    ) {
        run(ReadMultipleProcedure(handles: handles), completion: completion)
    }

    /// Reads two values or more of any lengths. The last one may be cut, and some may be missing at the end.
    public func readMultipleVariable(
        _ handles: [UInt16],
        completion: @escaping (Result<[PacketBuffer], GATTError>) -> Void
    ) {
        run(ReadMultipleVariableProcedure(handles: handles), completion: completion)
    }

    /// Writes a value of up to 512 octets; a long one in parts (behaviour 5.9).
    public func write(
        _ value: PacketBuffer,
        to handle: UInt16,
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        guard value.count <= ATTBearer.maximumAttributeLength else {
            return completion(.failure(.valueTooLong(value.count)))
        }
        run(WriteProcedure(handle, value), completion: completion)
    }

    /// Writes several values, all or none, and checks what the server understood of them (Vol 3 Part G 4.9.5).
    public func writeReliably(
        _ writes: [(handle: UInt16, value: PacketBuffer)],
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        if let long = writes.first(where: { $0.value.count > ATTBearer.maximumAttributeLength }) {
            return completion(.failure(.valueTooLong(long.value.count)))
        }
        run(LongWriteProcedure(writes, checksEcho: true), completion: completion)
    }

    /// Writes a value without an answer, cut to what the MTU allows.
    ///
    /// - Returns: false when there is no room; see ``ATTBearer/write(_:withoutResponseTo:)``.
    public func write(_ value: consuming PacketBuffer, withoutResponseTo handle: UInt16) -> Bool {
        bearer.write(value, withoutResponseTo: handle)
    }
}

// MARK: - Values that the server sends

extension GATTClient {
    /// Asks to be told of a characteristic's value, or not any more: by notifications when it has them, else by
    /// indications (behaviour 5.16).
    ///
    /// - Parameter descriptor: where the Client Characteristic Configuration is, when that is remembered; else it is
    ///   looked for once.
    public func setNotifying(
        _ isNotifying: Bool,
        _ characteristic: RemoteCharacteristic,
        descriptor: UInt16? = nil,
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        let choice: ClientConfiguration
        if characteristic.properties.contains(.notify) {
            choice = .notify
        } else if characteristic.properties.contains(.indicate) {
            choice = .indicate
        } else {
            return completion(.failure(.noClientConfiguration))
        }
        let procedure = SubscriptionProcedure(
            characteristic,
            isNotifying ? choice : [],
            descriptor: descriptor ?? configurationDescriptors[characteristic.value]
        )
        run(procedure) { [weak self] result in
            if case .success(let descriptor) = result {
                self?.configurationDescriptors[characteristic.value] = descriptor
            }
            completion(result.map { _ in })
        }
    }

    /// Asks to be told of changes to the server's database.
    ///
    /// - Parameter completion: false when the server has no Service Changed, so that what is found stays for good.
    public func watchServices(completion: @escaping (Result<Bool, GATTError>) -> Void) {
        discoverServices(GATTUUID.genericAttribute) { [weak self] result in
            guard let self, case .success(let services) = result, let service = services.first else {
                return completion(result.map { _ in false })
            }
            discoverCharacteristics(GATTUUID.serviceChanged, of: service) { [weak self] result in
                guard let self, case .success(let found) = result, let characteristic = found.first else {
                    return completion(result.map { _ in false })
                }
                serviceChanged = characteristic.value
                setNotifying(true, characteristic) { result in completion(result.map { true }) }
            }
        }
    }

    private func receive(_ handle: UInt16, _ value: PacketBuffer) {
        guard handle == serviceChanged else {
            onValue?(handle, value, .indication)
            return
        }
        guard value.count == 4 else { return }
        let start = UInt16(value[0]) | UInt16(value[1]) << 8
        let end = UInt16(value[2]) | UInt16(value[3]) << 8
        // A range that makes no sense may mean anything, so it means everything.
        let handles = start > 0 && start <= end ? start...end : 1...UInt16.max
        forget(handles)
    }
}
