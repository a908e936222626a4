import BluetoothTypes
import Foundation
import ServiceMessages

// Shorthand for messages that tests send and expect by the hundred.

extension Request {
    package static func startScan(_ scan: ScanRequest) -> Request { .central(.startScan(scan)) }
    package static var stopScan: Request { .central(.stopScan) }
    package static func connect(peer: UUID, options: ConnectOptions) -> Request {
        .central(.peer(peer, .connect(options)))
    }
    package static func cancelConnection(peer: UUID) -> Request { .central(.peer(peer, .cancelConnection)) }
    package static func forget(peer: UUID) -> Request { .central(.peer(peer, .forget)) }

    private static func link(_ peer: UUID, _ request: LinkRequest) -> Request { .central(.peer(peer, .link(request))) }

    package static func discoverServices(peer: UUID, uuids: [BluetoothUUID]?) -> Request {
        link(peer, .discoverServices(uuids))
    }
    package static func discoverIncludedServices(
        peer: UUID,
        service: AttributeHandle,
        uuids: [BluetoothUUID]?
    ) -> Request {
        link(peer, .discoverIncludedServices(of: service, uuids))
    }
    package static func discoverCharacteristics(
        peer: UUID,
        service: AttributeHandle,
        uuids: [BluetoothUUID]?
    ) -> Request {
        link(peer, .discoverCharacteristics(of: service, uuids))
    }
    package static func discoverDescriptors(peer: UUID, characteristic: AttributeHandle) -> Request {
        link(peer, .discoverDescriptors(of: characteristic))
    }
    package static func readCharacteristic(peer: UUID, characteristic: AttributeHandle) -> Request {
        link(peer, .readCharacteristic(characteristic))
    }
    package static func readDescriptor(peer: UUID, descriptor: AttributeHandle) -> Request {
        link(peer, .readDescriptor(descriptor))
    }
    package static func writeCharacteristic(
        peer: UUID,
        characteristic: AttributeHandle,
        value: PacketBuffer
    ) -> Request {
        link(peer, .writeCharacteristic(characteristic, value: value))
    }
    package static func writeWithoutResponse(
        peer: UUID,
        characteristic: AttributeHandle,
        value: PacketBuffer
    ) -> Request {
        link(peer, .writeWithoutResponse(characteristic, value: value))
    }
    package static func writeDescriptor(peer: UUID, descriptor: AttributeHandle, value: PacketBuffer) -> Request {
        link(peer, .writeDescriptor(descriptor, value: value))
    }
    package static func setNotify(peer: UUID, characteristic: AttributeHandle, enabled: Bool) -> Request {
        link(peer, .setNotify(characteristic, isEnabled: enabled))
    }
    package static func watchConnections(_ watch: ConnectionWatch?) -> Request { .central(.watchConnections(watch)) }
    package static func readRSSI(peer: UUID) -> Request { link(peer, .readRSSI) }

    package static func addService(_ service: LocalService) -> Request { .peripheral(.addService(service)) }
    package static func removeService(_ id: LocalAttributeID) -> Request { .peripheral(.removeService(id)) }
    package static var removeAllServices: Request { .peripheral(.removeAllServices) }
    package static func startAdvertising(_ request: AdvertisingRequest) -> Request {
        .peripheral(.startAdvertising(request))
    }
    package static var stopAdvertising: Request { .peripheral(.stopAdvertising) }
    package static func respond(transaction: UInt64, status: ATTStatus, value: PacketBuffer?) -> Request {
        .peripheral(.respond(transaction: transaction, status, value: value))
    }
    package static func updateValue(
        characteristic: LocalAttributeID,
        value: PacketBuffer,
        centrals: [UUID]?
    ) -> Request {
        .peripheral(.updateValue(characteristic, value: value, centrals: centrals))
    }
    package static func setDesiredConnectionLatency(central: UUID, latency: Int) -> Request {
        .peripheral(.setDesiredConnectionLatency(central: central, latency: latency))
    }
}

extension Event {
    package static func discovered(_ peer: PeerInfo, _ advertisement: Advertisement, rssi: Int) -> Event {
        .central(.discovered(peer, advertisement, rssi: rssi))
    }

    private static func of(_ peer: UUID, _ event: PeerEvent) -> Event { .central(.peer(peer, event)) }

    package static func connected(_ peer: PeerInfo, maximumWriteWithoutResponse maximum: Int) -> Event {
        of(peer.identifier, .connected(name: peer.name, maximumWriteWithoutResponse: maximum))
    }
    package static func connectionFailed(peer: UUID, _ error: ServiceError) -> Event {
        of(peer, .connectionFailed(error))
    }
    package static func disconnected(
        peer: UUID,
        _ error: ServiceError?,
        isReconnecting: Bool,
        timestamp: TimeInterval? = nil
    ) -> Event {
        of(peer, .disconnected(error, isReconnecting: isReconnecting, timestamp: timestamp))
    }
    package static func servicesDiscovered(peer: UUID, _ result: Result<[RemoteService], ServiceError>) -> Event {
        of(peer, .servicesDiscovered(result))
    }
    package static func includedServicesDiscovered(
        peer: UUID,
        service: AttributeHandle,
        _ result: Result<[RemoteService], ServiceError>
    ) -> Event {
        of(peer, .includedServicesDiscovered(of: service, result))
    }
    package static func characteristicsDiscovered(
        peer: UUID,
        service: AttributeHandle,
        _ result: Result<[RemoteCharacteristic], ServiceError>
    ) -> Event {
        of(peer, .characteristicsDiscovered(of: service, result))
    }
    package static func descriptorsDiscovered(
        peer: UUID,
        characteristic: AttributeHandle,
        _ result: Result<[RemoteDescriptor], ServiceError>
    ) -> Event {
        of(peer, .descriptorsDiscovered(of: characteristic, result))
    }
    package static func valueRead(
        peer: UUID,
        characteristic: AttributeHandle,
        _ result: Result<PacketBuffer, ServiceError>
    ) -> Event {
        of(peer, .valueRead(characteristic, result))
    }
    package static func valueNotified(peer: UUID, characteristic: AttributeHandle, _ value: PacketBuffer) -> Event {
        of(peer, .valueNotified(characteristic, value))
    }
    package static func descriptorUpdated(
        peer: UUID,
        descriptor: AttributeHandle,
        _ result: Result<PacketBuffer, ServiceError>
    ) -> Event {
        of(peer, .descriptorUpdated(descriptor, result))
    }
    package static func valueWritten(peer: UUID, characteristic: AttributeHandle, _ error: ServiceError?) -> Event {
        of(peer, .valueWritten(characteristic, error))
    }
    package static func descriptorWritten(peer: UUID, descriptor: AttributeHandle, _ error: ServiceError?) -> Event {
        of(peer, .descriptorWritten(descriptor, error))
    }
    package static func notifyStateChanged(
        peer: UUID,
        characteristic: AttributeHandle,
        isNotifying: Bool,
        _ error: ServiceError?
    ) -> Event {
        of(peer, .notifyStateChanged(characteristic, isNotifying: isNotifying, error))
    }
    package static func rssiRead(peer: UUID, _ result: Result<Int, ServiceError>) -> Event {
        of(peer, .rssiRead(result))
    }
    package static func nameChanged(peer: UUID, name: String?) -> Event { of(peer, .nameChanged(name)) }
    package static func servicesModified(peer: UUID, invalidated: [AttributeHandle]) -> Event {
        of(peer, .servicesModified(invalidated: invalidated))
    }
    package static func maximumWriteLengthChanged(peer: UUID, withoutResponse length: Int) -> Event {
        of(peer, .maximumWriteLengthChanged(length))
    }
    package static func writeCreditsReturned(peer: UUID, count: Int) -> Event { of(peer, .writeCreditsReturned(count)) }

    package static func serviceAdded(_ id: LocalAttributeID, _ error: ServiceError?) -> Event {
        .peripheral(.serviceAdded(id, error))
    }
    package static func advertisingStarted(_ error: ServiceError?) -> Event { .peripheral(.advertisingStarted(error)) }
    package static func subscribed(_ central: CentralInfo, characteristic: LocalAttributeID) -> Event {
        .peripheral(.subscribed(central, characteristic))
    }
    package static func unsubscribed(_ central: CentralInfo, characteristic: LocalAttributeID) -> Event {
        .peripheral(.unsubscribed(central, characteristic))
    }
    package static func readRequested(
        transaction: UInt64,
        _ central: CentralInfo,
        characteristic: LocalAttributeID,
        offset: Int
    ) -> Event {
        .peripheral(.readRequested(transaction: transaction, central, characteristic, offset: offset))
    }
    package static func writeRequested(
        transaction: UInt64,
        _ central: CentralInfo,
        _ writes: [WriteRequest],
        needsResponse: Bool
    ) -> Event {
        .peripheral(.writeRequested(transaction: transaction, central, writes, needsResponse: needsResponse))
    }
    package static func updateCreditsReturned(count: Int) -> Event { .peripheral(.updateCreditsReturned(count)) }
    package static func centralChanged(_ central: CentralInfo) -> Event { .peripheral(.centralChanged(central)) }
}
