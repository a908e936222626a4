import BluetoothTypes
import EventLoops
import HCI
import HCITransports

extension FuzzTarget {
    /// The parameters of commands.
    static let hciCommands = FuzzTarget(
        "hci-commands",
        maximumLength: 260,
        seeds: HCICommandRegistry.all.map { type in HCIPacket(type.init()).bytes.bytes }
            + Recording.session.commands
    ) { input in
        _ = PacketPrinter.describe(HCIPacket(.command, input.embedded))
        guard let packet = Codec.read(input, { try CommandPacket(reading: $0) }) else { return }
        Codec.check(packet) { try CommandPacket(reading: $0) }
        if let command = try? HCICommandRegistry.decode(packet) { check(command) }
    }

    private static func check<C: HCICommand>(_ command: C) {
        Codec.check(command) { try C(reading: $0) }
        _ = HCIPacket(command)
    }

    /// The parameters of events, and the return parameters of commands.
    static let hciEvents = FuzzTarget(
        "hci-events",
        maximumLength: 260,
        seeds: HCIEventRegistry.all.map { type in HCIPacket(type.init()).bytes.bytes }
            + HCICommandRegistry.all.map { answer(to: $0) } + Recording.session.events
    ) { input in
        _ = PacketPrinter.describe(HCIPacket(.event, input.embedded))
        guard let packet = Codec.read(input, { try EventPacket(reading: $0) }) else { return }
        Codec.check(packet) { try EventPacket(reading: $0) }
        guard let event = try? HCIEventRegistry.decode(packet) else { return }
        check(event)
        guard let complete = event as? CommandComplete else { return }
        if let response = try? HCICommandRegistry.decodeResponse(complete) { check(response) }
    }

    private static func check<E: HCIEvent>(_ event: E) {
        Codec.check(event) { try E.reading($0) }
        _ = HCIPacket(event)
    }

    private static func check<R: HCIResponse>(_ response: R) {
        _ = response.fieldDescription
        // A failed command may return fewer fields; the missing ones are zero.
        guard response.status == .success else { return }
        Codec.check(response) { try R.reading($0) }
    }

    private static func answer<C: HCICommand>(to command: C.Type) -> [UInt8] {
        HCIPacket(CommandComplete(C.self, C.Response())).bytes.bytes
    }

    /// A byte stream, cut as the input dictates: the parser must find the same packets however the stream is cut.
    static let h4 = FuzzTarget("h4", maximumLength: 1_024, seeds: Recording.session.streams) { input in
        var input = input
        let cuts = input.counted()
        let stream = input.rest()
        var whole = H4Parser()
        let packets = whole.parse(stream)
        hold(
            packets.reduce(0) { $0 + 1 + $1.bytes.count } + whole.pendingLength <= stream.count,
            "octets without input for them"
        )
        var parser = H4Parser()
        var found: [HCIPacket] = []
        var rest = stream[...]
        var index = 0
        while !rest.isEmpty {
            let length = cuts.isEmpty ? 1 : Int(cuts[index % cuts.count]) + 1
            found += parser.parse(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
            index += 1
            hold(parser.pendingLength <= H4Parser.maximumPacketLength, "the parser keeps more than a packet")
        }
        hold(found == packets, "the cuts change the packets")
        hold(parser.failure == whole.failure, "the cuts change the failure")
        if whole.failure == nil { hold(parser.pendingLength == whole.pendingLength, "the cuts change the kept octets") }
        for packet in packets.prefix(8) { _ = PacketPrinter.describe(packet) }
    }
}
