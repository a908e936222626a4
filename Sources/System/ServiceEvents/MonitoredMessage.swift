import BluetoothTypes
import Foundation
import ServiceMessages

/// A request or query of an app, or an event sent to one, as part of a ``MonitoredEvent``. The names of the fields are
/// stable. Fields without a value are omitted.
package struct MonitoredMessage: Codable, Hashable, Sendable {
    /// The maximum number of elements of each list. Further ones are left out.
    package static let maximumElements = 64
    /// The maximum length of each value, in octets. Longer ones are cut.
    package static let maximumValue = 512

    /// Where a message goes.
    package enum Direction: String, Codable, Sendable {
        case request
        /// A question of an app that waits for the answer.
        case query
        case event
    }

    /// A discovered attribute of a peer, or a characteristic that the app publishes.
    package struct Attribute: Codable, Hashable, Sendable {
        /// The handle in the peer's table.
        package var handle: Int?
        /// The identifier that the app chose for its own attribute.
        package var own: Int?
        package var uuid: String

        package init(handle: Int? = nil, own: Int? = nil, uuid: String) {
            (self.handle, self.own, self.uuid) = (handle, own, uuid)
        }
    }

    package var direction: Direction
    /// The name of the innermost message, such as `discovered`.
    package var name: String
    package var peer: UUID?
    /// The name of ``peer``, if the message contains it.
    package var peerName: String?
    package var localName: String?
    /// The signal strength in dBm.
    package var rssi: Int?
    /// Service UUIDs: advertised, wanted or published.
    package var services: [String]?
    package var solicitedServices: [String]?
    /// In hexadecimal, with the company identifier in front.
    package var manufacturerData: String?
    /// In hexadecimal, by service.
    package var serviceData: [String: String]?
    /// The advertised transmit power in dBm.
    package var txPower: Int?
    package var isConnectable: Bool?
    /// The handle of the peer's attribute that the message is about.
    package var handle: Int?
    /// The identifier of the app's own attribute that the message is about.
    package var own: Int?
    package var attributes: [Attribute]?
    /// The value of an attribute, or the data of a channel, in hexadecimal.
    package var value: String?
    /// Whether something was switched on or off.
    package var isEnabled: Bool?
    package var psm: Int?
    package var state: String?
    package var error: String?

    private init(_ direction: Direction, _ name: String) {
        self.direction = direction
        self.name = name.prefix(octets: MonitoredEvent.maximumText)
    }
}

// MARK: Requests

extension MonitoredMessage {
    init(_ request: Request) {
        self.init(.request, request.name)
        switch request {
        case .central(.startScan(let scan)):
            self.services = Self.names(of: scan.services ?? [])
            solicitedServices = Self.names(of: scan.solicitedServices)
        case .central(.peer(let peer, let request)):
            self.peer = peer
            switch request {
            case .link(let request), .ask(_, let request): add(request)
            case .connect, .cancelConnection, .forget: break
            }
        case .central: break
        case .peripheral(let request): add(request)
        case .channel(_, .send(let octets)): setValue(octets)
        case .setup(_, .showPicker(let items, _)):
            self.services = Self.names(of: items.compactMap(\.descriptor.service))
        case .channel, .setup, .activity: break
        }
    }

    private mutating func add(_ request: LinkRequest) {
        switch request {
        case .discoverServices(let services): self.services = Self.names(of: services ?? [])
        case .discoverIncludedServices(let handle, let uuids), .discoverCharacteristics(let handle, let uuids):
            self.handle = Int(handle)
            self.services = Self.names(of: uuids ?? [])
        case .discoverDescriptors(let handle), .readCharacteristic(let handle), .readDescriptor(let handle):
            self.handle = Int(handle)
        case .writeCharacteristic(let handle, let value), .writeWithoutResponse(let handle, let value),
            .writeDescriptor(let handle, let value):
            self.handle = Int(handle)
            setValue(value)
        case .setNotify(let handle, let isEnabled): (self.handle, self.isEnabled) = (Int(handle), isEnabled)
        case .openChannel(let psm): self.psm = Int(psm)
        case .watchLink(let isEnabled): self.isEnabled = isEnabled
        case .readRSSI, .startChannelSounding, .cancelChannelSounding, .refreshServices, .readLinkInformation,
            .preferLink:
            break
        }
    }

    private mutating func add(_ request: PeripheralRequest) {
        switch request {
        case .addService(let service):
            own = Int(service.id.rawValue)
            self.services = Self.names(of: [service.uuid])
            attributes = service.characteristics.prefix(Self.maximumElements).map {
                Attribute(own: Int($0.id.rawValue), uuid: "\($0.uuid)")
            }
        case .removeService(let id): own = Int(id.rawValue)
        case .startAdvertising(let request):
            localName = request.localName
            self.services = Self.names(of: request.services)
            manufacturerData = request.manufacturerData.map(Self.digits)
        case .respond(_, let status, let value):
            if status != .success { error = Self.text(of: .att(status)) }
            if let value { setValue(value) }
        case .updateValue(let id, let value, _):
            own = Int(id.rawValue)
            setValue(value)
        case .setDesiredConnectionLatency(let central, _), .disconnectCentral(let central): peer = central
        case .unpublishChannel(let psm): self.psm = Int(psm)
        case .watchCentrals(let isEnabled): self.isEnabled = isEnabled
        case .removeAllServices, .stopAdvertising, .publishChannel: break
        }
    }

    init(_ query: Query) {
        self.init(.query, "\(query.kind.name)")
        switch query {
        case .connectedPeripherals(let services): self.services = Self.names(of: services)
        case .names(let peer): self.peer = peer
        case .peripherals, .system, .scanCounts: break
        }
    }
}

// MARK: Events

extension MonitoredMessage {
    init(_ event: Event) {
        switch event {
        case .stateChanged(let state):
            self.init(.event, "stateChanged")
            self.state = state.name
        case .central(let event): self.init(event)
        case .peripheral(let event): self.init(event)
        case .channel(_, let event):
            self.init(.event, "\(event.kind.name) of a channel")
            if case .received(let octets) = event { setValue(octets) }
        case .setup(let event): self.init(event)
        case .activity(_, let isRemoved): self.init(.event, isRemoved ? "activityRemoved" : "activityEnded")
        }
    }

    private init(_ event: SetupEvent) {
        switch event {
        case .activated: self.init(.event, "activated")
        case .happened(let kind, let accessory, let error):
            self.init(.event, "\(kind)")
            (peer, peerName, self.error) = (accessory?.identifier, accessory?.name, error?.text)
        case .answered(_, let error):
            self.init(.event, "answered")
            self.error = error?.text
        }
    }

    private init(_ event: CentralEvent) {
        self.init(.event, event.kind.name)
        switch event {
        case .peer(let peer, let event), .answered(let peer, _, let event):
            (self.peer, name) = (peer, event.kind.name)
            add(event)
        case .discovered(let peer, let advertisement, let rssi):
            add(peer)
            self.rssi = rssi
            add(advertisement)
        case .connectionChanged(let peer, let isConnected):
            add(peer)
            isEnabled = isConnected
        case .lost(let peer): add(peer)
        case .willRestore: break
        }
    }

    private mutating func add(_ peer: PeerInfo) {
        (self.peer, peerName) = (peer.identifier, peer.name)
    }

    private mutating func add(_ advertisement: Advertisement) {
        self.services = Self.names(of: advertisement.serviceUUIDs)
        solicitedServices = Self.names(of: advertisement.solicitedServiceUUIDs)
        manufacturerData = advertisement.manufacturerData.map(Self.digits)
        if !advertisement.serviceData.isEmpty {
            let kept = advertisement.serviceData.sorted { "\($0.key)" < "\($1.key)" }.prefix(Self.maximumElements)
            serviceData = [String: String](kept.map { ("\($0.key)", Self.digits($0.value)) }) { first, _ in first }
        }
        txPower = advertisement.txPowerLevel
        isConnectable = advertisement.isConnectable
    }

    private mutating func add(_ event: PeerEvent) {
        switch event {
        case .connected(let name, _), .nameChanged(let name): peerName = name
        case .connectionFailed(let error): self.error = Self.text(of: error)
        case .disconnected(let error, let isReconnecting, _):
            self.error = Self.text(of: error)
            isEnabled = isReconnecting ? true : nil
        case .servicesDiscovered(let result): add(result) { ($0.handle, $0.uuid) }
        case .includedServicesDiscovered(let handle, let result): add(result, of: handle) { ($0.handle, $0.uuid) }
        case .characteristicsDiscovered(let handle, let result): add(result, of: handle) { ($0.handle, $0.uuid) }
        case .descriptorsDiscovered(let handle, let result): add(result, of: handle) { ($0.handle, $0.uuid) }
        case .valueRead(let handle, let result), .descriptorUpdated(let handle, let result):
            self.handle = Int(handle)
            switch result {
            case .success(let value): setValue(value)
            case .failure(let error): self.error = Self.text(of: error)
            }
        case .valueNotified(let handle, let value):
            self.handle = Int(handle)
            setValue(value)
        case .valueWritten(let handle, let error), .descriptorWritten(let handle, let error):
            (self.handle, self.error) = (Int(handle), Self.text(of: error))
        case .notifyStateChanged(let handle, let isNotifying, let error):
            (self.handle, isEnabled, self.error) = (Int(handle), isNotifying, Self.text(of: error))
        case .rssiRead(.success(let rssi)): self.rssi = rssi
        case .rssiRead(.failure(let error)): self.error = Self.text(of: error)
        case .channelOpened(let psm, let result):
            self.psm = Int(psm)
            if case .failure(let error) = result { self.error = Self.text(of: error) }
        case .notificationsAuthorized(let isAllowed): isEnabled = isAllowed
        case .channelSoundingMeasured(let result):
            if case .failure(let error) = result { self.error = Self.text(of: error) }
        case .channelSoundingEnded(let error): self.error = Self.text(of: error)
        case .servicesModified, .maximumWriteLengthChanged, .writeCreditsReturned, .linkInformation: break
        }
    }

    private mutating func add<T>(
        _ result: Result<[T], ServiceError>,
        of handle: AttributeHandle? = nil,
        _ attribute: (T) -> (AttributeHandle, BluetoothUUID)
    ) {
        self.handle = handle.map { Int($0) }
        switch result {
        case .success(let found):
            let kept = found.prefix(Self.maximumElements).map(attribute)
            attributes = kept.map { Attribute(handle: Int($0), uuid: "\($1)") }
        case .failure(let error): self.error = Self.text(of: error)
        }
    }

    private init(_ event: PeripheralEvent) {
        self.init(.event, "\(event.kind.name)")
        switch event {
        case .serviceAdded(let id, let error): (own, self.error) = (Int(id.rawValue), Self.text(of: error))
        case .advertisingStarted(let error, _): self.error = Self.text(of: error)
        case .subscribed(let central, let id), .unsubscribed(let central, let id):
            (peer, own) = (central.identifier, Int(id.rawValue))
        case .readRequested(_, let central, let id, _): (peer, own) = (central.identifier, Int(id.rawValue))
        case .writeRequested(_, let central, let requests, _):
            peer = central.identifier
            own = requests.first.map { Int($0.characteristic.rawValue) }
            if let first = requests.first { setValue(first.value) }
        case .centralChanged(let central), .centralConnected(let central): peer = central.identifier
        case .channelPublished(let psm, let error, _), .channelUnpublished(let psm, let error):
            (self.psm, self.error) = (Int(psm), Self.text(of: error))
        case .channelOpened(let psm, let central, _): (self.psm, peer) = (Int(psm), central.identifier)
        case .centralDisconnected(let central, let error), .centralReleased(let central, let error):
            (peer, self.error) = (central, Self.text(of: error))
        case .updateCreditsReturned, .willRestore: break
        }
    }
}

// MARK: Bounds

extension MonitoredMessage {
    private mutating func setValue(_ octets: PacketBuffer) {
        value = Self.digits(octets)
    }

    private static func names(of uuids: [BluetoothUUID]) -> [String]? {
        uuids.isEmpty ? nil : uuids.prefix(maximumElements).map { "\($0)" }
    }

    private static func digits(_ octets: PacketBuffer) -> String {
        "\(octets.prefix(upTo: maximumValue))"
    }

    private static func text(of error: ServiceError?) -> String? {
        error.map { ($0.reason ?? text(of: $0.code)).prefix(octets: MonitoredEvent.maximumText) }
    }

    private static func text(of code: ServiceError.Code) -> String {
        switch code {
        case .core(let code): "\(code)"
        case .att(let status): "ATT error 0x\(String(status.rawValue, radix: 16))"
        }
    }
}

extension SetupError {
    fileprivate var text: String { reason.map { "\(code): \($0)" } ?? "\(code)" }
}
