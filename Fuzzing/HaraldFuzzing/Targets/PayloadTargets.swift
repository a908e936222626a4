import ATT
import BluetoothTypes
import HCI
import L2CAP

@testable import LinkLayer

extension FuzzTarget {
    /// The data of advertisements.
    static let advertisingData = FuzzTarget(
        "advertising-data",
        maximumLength: 1_700,
        seeds: [everyStructure.encoded.bytes] + Recording.session.advertisingData
    ) { input in
        let data = AdvertisingData(parsing: input.embedded)
        hold(data == AdvertisingData(parsing: input.whole), "the result depends on octets outside of the packet")
        hold(data.encoded == input.whole.prefix(upTo: data.encodedLength), "the octets read are not those received")
        hold(AdvertisingData(parsing: data.encoded) == data, "an encoded value decodes to something else")
        hold(data.serviceUUIDs.count * 2 <= input.octets.count, "UUIDs without input for them")
        hold(data.serviceData.count <= data.structures.count, "service data without input for it")
        _ = (data.flags, data.localName, data.solicitedServiceUUIDs, data.manufacturerData, data.txPowerLevel)
        _ = (data.appearance, data.manufacturerData(of: .apple), data.description, data.merged(with: data).encoded)
    }

    private static let everyStructure = AdvertisingData([
        .flags([.generalDiscoverable, .classicNotSupported]),
        .services([0x180D, 0x180F], width: .bits16, isComplete: true),
        .services([BluetoothUUID(bits32: 0x1234_5678)], width: .bits32, isComplete: false),
        .services([BluetoothUUID(high: 1, low: 2)], width: .bits128, isComplete: true),
        .solicitedServices([0x1805], width: .bits16),
        .localName(.init("Ticker")), .localName(.init("Tick", isShortened: true)),
        .txPowerLevel(-8), .serviceData(0x180F, [64]), .serviceData(BluetoothUUID(high: 3, low: 4), []),
        .manufacturerData(.apple, [0xAA]), .appearance(0x0341),
    ])

    /// All PDUs of ATT.
    static let attPDUs = FuzzTarget(
        "att-pdus",
        maximumLength: 600,
        seeds: Recording.session.attPDUs + (0...255).map { [$0] + [UInt8](repeating: 1, count: 20) }
    ) { input in
        guard let pdu = Codec.read(input, { try ATTPDU(reading: $0) }) else { return }
        Codec.survives(pdu, encode: { $0.encoded() }, decode: { try ATTPDU(reading: $0) })
        hold(pdu.encoded() == input.whole, "\(pdu) encodes to other octets than it was decoded from")
        hold(pdu.description.utf8.count <= 64 * 1024, "a description of 64 KiB")
    }

    /// All PDUs on the advertising channels.
    static let advertisingPDUs = FuzzTarget(
        "advertising-pdus",
        maximumLength: 260,
        seeds: Recording.session.advertisingPDUs
    ) { input in
        guard let pdu = Codec.read(input, { try AdvertisingPDU(reading: $0) }) else { return }
        Codec.survives(
            pdu,
            encode: { PacketBuffer($0.encoded()) },
            decode: { try AdvertisingPDU(reading: $0) }
        )
        hold(pdu.encoded().count <= input.octets.count, "octets without input for them")
        guard case .extended(let body) = pdu,
            let responses = try? ResponseTiming.find(in: body.extended.controllerData)
        else { return }
        let again = try? ResponseTiming.find(in: responses.controllerData)
        hold(again == responses, "\(responses) encodes to something else")
        _ = (responses.timing.isUsable(within: .max), responses.timing.hasSlot(.max))
    }

    /// All PDUs on the data channels.
    static let linkPDUs = FuzzTarget(
        "link-pdus",
        maximumLength: 260,
        seeds: Recording.session.linkPDUs + (0...0x2A).map { [3, 26, $0] + [UInt8](repeating: 1, count: 25) }
            + [[3, 43, 0x2A] + [UInt8](repeating: 1, count: 42)]
    ) { input in
        let header = Codec.read(input) { try DataHeader(reading: $0.prefix(upTo: DataHeader.size)) }
        if let header { Codec.check(header) { try DataHeader(reading: $0) } }
        let payload = FuzzInput(Array(input.octets.dropFirst(DataHeader.size)))
        guard let pdu = Codec.read(payload, { try ControlPDU(reading: $0) }) else { return }
        Codec.survives(pdu, encode: { $0.encoded() }, decode: { try ControlPDU(reading: $0) })
    }
}
