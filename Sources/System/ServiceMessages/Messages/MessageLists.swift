import BluetoothTypes

extension ServiceError {
    /// The error for a list in a message that exceeds its limit (AB-G05); nil for a list within its limit.
    fileprivate init?(_ list: String, _ count: Int, limit: Int) {
        guard count > limit else { return nil }
        self.init(.invalidParameters, reason: "\(count) \(list) in one request exceed the limit of \(limit)")
    }
}

extension Request {
    /// The error of the first list that is too long; nil if there is none. Decoding refuses the same lists.
    package var listError: ServiceError? {
        switch self {
        case .central(.startScan(let scan)):
            ServiceError("services", scan.services?.count ?? 0, limit: ServiceLimits.scannedServices)
                ?? ServiceError(
                    "solicited services",
                    scan.solicitedServices.count,
                    limit: ServiceLimits.scannedServices
                )
        case .central(.watchConnections(let watch?)):
            ServiceError("services", watch.services.count, limit: ConnectionWatch.maximumServices)
                ?? ServiceError("peripherals", watch.peers.count, limit: ConnectionWatch.maximumPeers)
        case .central(.peer(_, .link(let request))), .central(.peer(_, .ask(_, let request))): request.listError
        case .peripheral(.addService(let service)): service.listError
        case .peripheral(.startAdvertising(let request)):
            ServiceError("services", request.services.count, limit: ServiceLimits.advertisedServices)
                ?? ServiceError("service data", request.serviceData.count, limit: ServiceLimits.advertisedData)
        case .peripheral(.updateValue(_, _, let centrals?)):
            ServiceError("centrals", centrals.count, limit: ServiceLimits.centrals)
        case .setup(_, .showPicker(let items, _)):
            ServiceError("display items", items.count, limit: ServiceLimits.pickerItems)
        case .central, .peripheral, .channel, .setup, .activity: nil
        }
    }

    /// The event that reports the failure of the request to the manager; nil for a request without an answer.
    package func refusal(_ error: ServiceError) -> Event? {
        switch self {
        case .central(.peer(let peer, .link(let request))): request.refusal(error).map { .central(.peer(peer, $0)) }
        case .central(.peer(let peer, .ask(let number, let request))):
            request.refusal(error).map { .central(.answered(peer, number: number, $0)) }
        case .peripheral(.addService(let service)): .peripheral(.serviceAdded(service.id, error))
        case .peripheral(.startAdvertising(let request)):
            .peripheral(.advertisingStarted(error, number: request.number))
        // Returns the credit that the manager has spent.
        case .peripheral(.updateValue): .peripheral(.updateCreditsReturned(1))
        case .setup(let number, _):
            .setup(.answered(number: number, SetupError(.invalidRequest, reason: error.reason)))
        case .central, .peripheral, .channel, .activity: nil
        }
    }
}

extension LinkRequest {
    fileprivate var listError: ServiceError? {
        switch self {
        case .discoverServices(let types), .discoverIncludedServices(_, let types),
            .discoverCharacteristics(_, let types):
            ServiceError("UUIDs", types?.count ?? 0, limit: ServiceLimits.discoveredTypes)
        default: nil
        }
    }

    fileprivate func refusal(_ error: ServiceError) -> PeerEvent? {
        switch self {
        case .discoverServices: .servicesDiscovered(.failure(error))
        case .discoverIncludedServices(let service, _): .includedServicesDiscovered(of: service, .failure(error))
        case .discoverCharacteristics(let service, _): .characteristicsDiscovered(of: service, .failure(error))
        default: nil
        }
    }
}

extension LocalService {
    fileprivate var listError: ServiceError? {
        ServiceError("included services", includedServices.count, limit: ServiceLimits.includedServices)
            ?? ServiceError("characteristics", characteristics.count, limit: ServiceLimits.characteristics)
            ?? characteristics.lazy.compactMap {
                ServiceError("descriptors", $0.descriptors.count, limit: ServiceLimits.descriptors)
            }.first
    }
}

extension Query {
    /// The error of a list that is too long; nil if it is within its limit.
    package var listError: ServiceError? {
        switch self {
        case .peripherals(let identifiers):
            ServiceError("identifiers", identifiers.count, limit: ServiceLimits.identifiers)
        case .connectedPeripherals(let services):
            ServiceError("services", services.count, limit: ServiceLimits.scannedServices)
        case .system, .names, .scanCounts: nil
        }
    }
}
