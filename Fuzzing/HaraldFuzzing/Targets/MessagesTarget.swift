import BluetoothTypes
import ServiceMessages

extension FuzzTarget {
    /// The messages between an app and the service, in both directions.
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

    /// The messages between a tool and the service, in both directions.
    static let toolMessages = FuzzTarget(
        "tool-messages",
        maximumLength: 2_000,
        seeds: seedsOfTools
    ) {
        input in
        check(ToolMessage.self, input)
        check(ToolReply.self, input)
    }

    /// One message of each kind, and of each kind of its content.
    private static var seedsOfTools: [[UInt8]] {
        let questions = ToolQuestion.kinds.map { ToolMessage.ask(number: 1, $0) }
        let answered = PersonAnswer.kinds.map { ToolMessage.answer(number: 1, $0) }
        let pairing = PairingQuestion.Kind.kinds.map {
            PersonQuestion.pairing(PairingQuestion($0, peerName: "a", peerAddress: "C0:FF:EE:00:00:01"))
        }
        let origins = PairingQuestion.Origin.kinds + [.apps([AppIdentity(name: "a", owner: 1)])]
        let asked = origins.map { origin in
            var question = PairingQuestion(.confirm, peerAddress: "C0:FF:EE:00:00:01")
            question.origin = origin
            return PersonQuestion.pairing(question)
        }
        let prompts = (PersonQuestion.kinds + pairing + asked).map { ToolReply.prompt(number: 1, $0) }
        return (ToolMessage.kinds + questions + answered).map { $0.encoded().bytes }
            + (ToolReply.kinds + prompts).map { $0.encoded().bytes }
    }

    private static func check<Message: PacketFields & Equatable>(_ type: Message.Type, _ input: FuzzInput) {
        let decode = { (octets: PacketBuffer) throws -> Message in try Message(reading: octets) }
        if let message = Codec.read(input, decode) { Codec.check(message, decode: decode) }
    }

    /// One message of each kind, and of each kind of its content.
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
