import BluetoothTypes

/// Formats PDUs of the link layer as text: the name and the fields.
package enum AirPrinter {
    /// Returns the name and the fields of a PDU on the advertising channels (Core Vol 6 Part B 2.3).
    ///
    /// - Parameter isPrimary: Whether it was sent on one of the three primary channels. Others give some PDUs other
    ///   names.
    package static func describe(advertising pdu: PacketBuffer, isPrimary: Bool) -> String {
        let kind = (pdu.first ?? 0) & 0x0F
        let names = isPrimary ? primaryNames : secondaryNames
        let name = names[kind] ?? "advertising PDU \(kind)"
        do throws(PacketError) {
            return line(name, try AdvertisingPDU(reading: pdu).payload)
        } catch {
            return "\(name): malformed, \(error)"
        }
    }

    /// Returns the name and the fields of a control PDU, which begins with its opcode (2.4.2).
    package static func describe(control pdu: PacketBuffer) -> String {
        let opcode = pdu.first ?? 0
        let name = controlNames[opcode].map { "LL_\($0)" } ?? "control PDU \(opcode)"
        do throws(PacketError) {
            return line(name, try ControlPDU(reading: pdu).body)
        } catch {
            return "\(name): malformed, \(error)"
        }
    }

    /// Returns the fields of an advertising PDU, which follow its header of two octets; nil if it is malformed.
    package static func fields(advertising pdu: PacketBuffer) -> (any PacketFields)? {
        try? AdvertisingPDU(reading: pdu).payload
    }

    /// Returns the fields of a control PDU, which follow its opcode; nil if it is malformed or has none.
    package static func fields(control pdu: PacketBuffer) -> (any PacketFields)? {
        (try? ControlPDU(reading: pdu))?.body
    }

    private static func line(_ name: String, _ fields: (any PacketFields)?) -> String {
        let text = fields?.fieldDescription ?? ""
        return text.isEmpty ? name : "\(name): \(text)"
    }

    private static let primaryNames: [UInt8: String] = [
        0: "ADV_IND", 1: "ADV_DIRECT_IND", 2: "ADV_NONCONN_IND", 3: "SCAN_REQ", 4: "SCAN_RSP", 5: "CONNECT_IND",
        6: "ADV_SCAN_IND", 7: "ADV_EXT_IND",
    ]
    private static let secondaryNames: [UInt8: String] = [
        3: "AUX_SCAN_REQ", 5: "AUX_CONNECT_REQ", 7: "AUX_ADV_IND, AUX_SCAN_RSP or AUX_CHAIN_IND",
        8: "AUX_CONNECT_RSP",
    ]
    private static let controlNames: [UInt8: String] = [
        0x00: "CONNECTION_UPDATE_IND", 0x01: "CHANNEL_MAP_IND", 0x02: "TERMINATE_IND", 0x03: "ENC_REQ",
        0x04: "ENC_RSP", 0x05: "START_ENC_REQ", 0x06: "START_ENC_RSP", 0x07: "UNKNOWN_RSP", 0x08: "FEATURE_REQ",
        0x09: "FEATURE_RSP", 0x0A: "PAUSE_ENC_REQ", 0x0B: "PAUSE_ENC_RSP", 0x0C: "VERSION_IND", 0x0D: "REJECT_IND",
        0x0E: "PERIPHERAL_FEATURE_REQ", 0x0F: "CONNECTION_PARAM_REQ", 0x10: "CONNECTION_PARAM_RSP",
        0x11: "REJECT_EXT_IND", 0x12: "PING_REQ", 0x13: "PING_RSP", 0x14: "LENGTH_REQ", 0x15: "LENGTH_RSP",
        0x16: "PHY_REQ", 0x17: "PHY_RSP", 0x18: "PHY_UPDATE_IND", 0x19: "MIN_USED_CHANNELS_IND",
        0x1C: "PERIODIC_SYNC_IND", 0x1D: "CLOCK_ACCURACY_REQ", 0x1E: "CLOCK_ACCURACY_RSP", 0x26: "SUBRATE_REQ",
        0x27: "SUBRATE_IND", 0x2A: "PERIODIC_SYNC_WR_IND",
    ]
}

extension AdvertisingPDU {
    /// The payload after the header.
    fileprivate var payload: any PacketFields {
        switch self {
        case .connectableScannable(let body), .nonConnectable(let body), .scannable(let body), .scanResponse(let body):
            body
        case .directed(let body): body
        case .scanRequest(let body): body
        case .connect(let body): body
        case .extended(let body), .connectResponse(let body): body
        }
    }
}
