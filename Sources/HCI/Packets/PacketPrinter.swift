import BluetoothTypes

/// Shows packets to a person, one line for each: direction, what it is, and its fields.
///
/// Return parameters are shown by the command that they belong to. Octets that cannot be read are shown as they are, with
/// the reason.
public enum PacketPrinter {
    /// One line for a packet.
    public static func line(_ packet: HCIPacket, _ direction: HCIDirection) -> String {
        let arrow =
            switch direction {
            case .hostToController: ">"
            case .controllerToHost: "<"
            }
        return "\(arrow) \(describe(packet))"
    }

    /// What a packet is, and its fields.
    public static func describe(_ packet: HCIPacket) -> String {
        do throws(PacketError) {
            switch packet.kind {
            case .command: return try command(CommandPacket(reading: packet.bytes))
            case .event: return try event(EventPacket(reading: packet.bytes))
            case .acl: return try acl(ACLPacket(reading: packet.bytes))
            case .synchronous, .isochronous: return "\(packet.kind) \(packet.bytes)"
            }
        } catch {
            return "\(packet.kind) \(packet.bytes): malformed, \(error)"
        }
    }

    private static func command(_ packet: CommandPacket) throws(PacketError) -> String {
        guard let command = try HCICommandRegistry.decode(packet) else {
            return "\(commandName(packet.opcode)) \(packet.parameters)"
        }
        return text(type(of: command).name, "(\(packet.opcode))", command.fieldDescription)
    }

    private static func event(_ packet: EventPacket) throws(PacketError) -> String {
        guard let event = try HCIEventRegistry.decode(packet) else {
            return unknown(packet)
        }
        let name = type(of: event).name
        switch event {
        case let complete as CommandComplete: return try text(name, "", commandComplete(complete))
        case let status as CommandStatus:
            return text(
                name,
                commandName(status.opcode),
                "Num_HCI_Command_Packets: \(status.credits), \(status.status)"
            )
        default: return text(name, "", event.fieldDescription)
        }
    }

    private static func unknown(_ packet: EventPacket) -> String {
        switch (packet.code, packet.subevent) {
        case (.vendorSpecific, _): "vendor event \(packet.parameters)"
        case (.leMeta, let subevent?): "LE event \(subevent) \(packet.eventParameters)"
        default: "event \(packet.code) \(packet.parameters)"
        }
    }

    private static func commandComplete(_ event: CommandComplete) throws(PacketError) -> String {
        let fields =
            try HCICommandRegistry.decodeResponse(event)?.fieldDescription ?? "Return_Parameters: \(event.parameters)"
        return "\(commandName(event.opcode)), Num_HCI_Command_Packets: \(event.credits), \(fields)"
    }

    private static func acl(_ packet: ACLPacket) -> String {
        "ACL Data \(packet.handle) \(packet.boundary) \(packet.payload.count) octets: \(packet.payload)"
    }

    private static func commandName(_ opcode: Opcode) -> String {
        if let type = HCICommandRegistry.type(for: opcode) { return "\(type.name) (\(opcode))" }
        return "\(opcode.isVendorSpecific ? "vendor command" : "command") \(opcode)"
    }

    private static func text(_ name: String, _ detail: String, _ fields: String) -> String {
        let head = detail.isEmpty ? name : "\(name) \(detail)"
        return fields.isEmpty ? head : "\(head): \(fields)"
    }
}

extension HCIPacket: CustomStringConvertible {
    /// What the packet is, and its fields.
    public var description: String { PacketPrinter.describe(self) }
}
