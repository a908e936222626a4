import ATT
import BluetoothTypes

/// Finds a characteristic's Client Characteristic Configuration descriptor and writes it (Core Vol 3 Part G 4.12.3).
/// Completes with the descriptor's handle.
struct SubscriptionProcedure: GATTProcedure {
    private let configuration: ClientConfiguration
    private var search: DescriptorDiscovery
    private var descriptor: UInt16?

    /// Creates the procedure. If `descriptor` is given, there is no search.
    init(_ characteristic: DiscoveredCharacteristic, _ configuration: ClientConfiguration, descriptor: UInt16?) {
        self.configuration = configuration
        self.descriptor = descriptor
        search = DescriptorDiscovery(in: characteristic.descriptors)
    }

    var flaws: TableFlaws { search.flaws }

    mutating func begin(mtu: Int) -> GATTStep<UInt16> {
        descriptor == nil ? follow(search.begin(mtu: mtu)) : write()
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<UInt16> {
        guard let descriptor else { return follow(search.handle(response, mtu: mtu)) }
        guard case .writeResponse = response else { return .fault(.unexpectedResponse) }
        return .finished(descriptor)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<UInt16> {
        descriptor == nil ? follow(search.handle(error, mtu: mtu)) : .failed(.att(error))
    }

    private mutating func follow(_ step: GATTStep<[DiscoveredDescriptor]>) -> GATTStep<UInt16> {
        switch step {
        case .request(let pdu): return .request(pdu)
        case .failed(let error): return .failed(error)
        case .finished(let found):
            descriptor = found.first { $0.uuid == GATTUUID.clientConfiguration }?.handle
            return write()
        }
    }

    private func write() -> GATTStep<UInt16> {
        guard let descriptor else { return .failed(.noClientConfiguration) }
        var value = PacketBuffer(capacity: 2)
        value.append(integer: configuration.rawValue)
        return .request(.writeRequest(ATTWriteRequest(handle: descriptor, value: value)))
    }
}
