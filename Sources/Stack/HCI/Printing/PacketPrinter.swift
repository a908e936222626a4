import BluetoothTypes

/// Formats packets as text, one line each: direction, name and fields.
///
/// Return parameters are decoded by the command to which they belong. Malformed packets are printed as octets, with the
/// reason. For anything that may be a key only the length is printed, because logs are shared more widely than
/// captures.
package enum PacketPrinter {
    /// Returns a line for a packet, without a line break.
    package static func line(_ packet: HCIPacket, _ direction: HCIDirection) -> String {
        let arrow =
            switch direction {
            case .hostToController: ">"
            case .controllerToHost: "<"
            }
        return "\(arrow) \(describe(packet))"
    }

    package static func describe(_ packet: HCIPacket) -> String {
        do throws(PacketError) {
            switch packet.kind {
            case .command: return try command(CommandPacket(reading: packet.bytes))
            case .event: return try event(EventPacket(reading: packet.bytes))
            case .acl: return try acl(ACLPacket(reading: packet.bytes))
            case .synchronous, .isochronous: return "\(packet.kind) \(packet.bytes)"
            }
        } catch {
            let octets = hasSecrets(packet) ? "of \(packet.bytes.count) octets" : "\(packet.bytes)"
            return "\(packet.kind) \(octets): malformed, \(error)"
        }
    }

    /// Returns whether a packet may contain a key, judged by its first octets, which are all that is reliable in a
    /// malformed packet.
    private static func hasSecrets(_ packet: HCIPacket) -> Bool {
        let first = packet.bytes.prefix(upTo: 5)
        switch packet.kind {
        case .command: return opcode(first, at: 0).map { hasSecrets(HCICommandRegistry.type(for: $0)) } ?? false
        case .event where first.first == EventCode.leMeta.rawValue && first.count > 2:
            return hasSecrets(HCIEventRegistry.type(for: .leMeta, subevent: LESubevent(rawValue: first[2])))
        case .event where first.first == CommandComplete.eventCode.rawValue:
            guard let type = opcode(first, at: 3).flatMap({ HCICommandRegistry.type(for: $0) }) else { return false }
            return hasSecrets(HCICommandRegistry.response(of: type))
        case .event, .synchronous, .isochronous: return false
        case .acl: return true
        }
    }

    private static func hasSecrets(_ type: (any PacketFields.Type)?) -> Bool {
        type.map { !$0.secrets.isEmpty } ?? false
    }

    private static func opcode(_ octets: PacketBuffer, at index: Int) -> Opcode? {
        octets.word(at: index).map { Opcode(rawValue: $0) }
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
        let head = "ACL Data \(packet.handle) \(packet.boundary) \(packet.payload.count) octets"
        return isShown(packet) ? "\(head): \(packet.payload)" : head
    }

    /// Returns whether a fragment contains no key: it starts a PDU, and its header names a channel other than the
    /// Security Manager's (Core Vol 3 Part A 2.1, 3.1). The channel of other fragments is unknown at this layer.
    private static func isShown(_ packet: ACLPacket) -> Bool {
        let header = packet.payload.prefix(upTo: 4)
        return packet.boundary.isStart && header.count == 4 && (header[2], header[3]) != (6, 0)
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

extension HCIPacket: CustomStringConvertible, CustomReflectable {
    package var description: String { PacketPrinter.describe(self) }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension CommandPacket {
    package var description: String { PacketPrinter.describe(HCIPacket(.command, encoded())) }
}

extension EventPacket {
    package var description: String { PacketPrinter.describe(HCIPacket(.event, encoded())) }
}

extension ACLPacket: CustomStringConvertible, CustomReflectable {
    package var description: String { PacketPrinter.describe(HCIPacket(self)) }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
