import BluetoothService
import BluetoothTypes

extension FuzzTarget {
    /// What comes out of a socket between an app and the service, in both directions.
    static let messages = FuzzTarget(
        "messages",
        maximumLength: 2_000,
        seeds: seeds(of: Opening.self) + seeds(of: AppMessage.self) + seeds(of: ServiceMessage.self)
    ) {
        input in
        check(Opening.self, input)
        check(AppMessage.self, input)
        check(ServiceMessage.self, input)
    }

    private static func check<Message: PacketFields & Equatable>(_ type: Message.Type, _ input: FuzzInput) {
        let decode = { (octets: PacketBuffer) throws -> Message in try Message(reading: octets) }
        if let message = Codec.read(input, decode) { Codec.check(message, decode: decode) }
    }

    /// One message of each kind, and of each kind of what is in it.
    private static func seeds<Message: MessageKinds>(of type: Message.Type) -> [[UInt8]] {
        Message.kinds.map { $0.encoded().bytes }
            + LinkRequest.kinds.map {
                AppMessage.request(ManagerID(1), .central(.peer(peer, .link($0)))).encoded().bytes
            }
            + PeripheralRequest.kinds.map { AppMessage.request(ManagerID(1), .peripheral($0)).encoded().bytes }
            + PeerEvent.kinds.map { ServiceMessage.event(ManagerID(1), .central(.peer(peer, $0))).encoded().bytes }
            + ChannelRequest.kinds.map { AppMessage.request(ManagerID(1), .channel(ChannelID(1), $0)).encoded().bytes }
            + ChannelEvent.kinds.map { ServiceMessage.event(ManagerID(1), .channel(ChannelID(1), $0)).encoded().bytes }
            + PeripheralEvent.kinds.map { ServiceMessage.event(ManagerID(1), .peripheral($0)).encoded().bytes }
    }

    private static let peer = PeerInfo().identifier
}
