import BluetoothTypes

/// Puts the contents of an advertisement into words.
///
/// Advertisements come from any device. Each gives texts of bounded length, without control characters.
package enum AdvertisementText {
    /// The parts of an advertisement that a tool shows elsewhere, or not at all.
    package struct Omissions: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The local name, which most tools show elsewhere.
        package static let name = Omissions(rawValue: 1 << 0)
        /// The flags, which are the same for most devices.
        package static let flags = Omissions(rawValue: 1 << 1)
    }

    /// Returns the contents in words: what identifies the device first, then what it says, then the rest.
    ///
    /// For example `services Heart Rate (180D)`, `manufacturer Nordic Semiconductor ASA (0x0059): 0102`.
    package static func words(of data: AdvertisingData, omitting omissions: Omissions = [.name, .flags]) -> [String] {
        var words: [String] = []
        if !omissions.contains(.name), let name = data.localName {
            words.append("\(name.isShortened ? "shortened name" : "name") \(name.text.quotedName)")
        }
        words += list("services", data.serviceUUIDs)
        words += list("solicits", data.solicitedServiceUUIDs)
        words += data.structures.filter { $0.type == .manufacturerData }.map { manufacturer($0.payload) }
        words += data.serviceData.map {
            "data of \(AssignedNumbers.title(of: $0.service)): \(ValueText.plain($0.data))"
        }
        if let appearance = data.appearance { words.append("appearance \(ValueText.appearance(appearance))") }
        if let power = data.txPowerLevel { words.append("tx power \(power) dBm") }
        words += reach(data)
        if !omissions.contains(.flags), let flags = data.flags { words.append("flags \(Self.words(of: flags))") }
        return words + rest(data)
    }

    private static func list(_ title: String, _ uuids: [BluetoothUUID]) -> [String] {
        uuids.isEmpty ? [] : ["\(title) \(uuids.map(AssignedNumbers.title).joined(separator: ", "))"]
    }

    /// Returns manufacturer data: the company, and its data in hexadecimal unless it is an iBeacon.
    package static func manufacturer(_ payload: some Collection<UInt8>) -> String {
        let octets = Array(payload.prefix(AdvertisingData.maximumPayload))
        guard octets.count >= 2 else { return "manufacturer data without a company: \(hexadecimal(octets))" }
        let company = UInt16(octets[0]) | UInt16(octets[1]) << 8
        let data = octets.dropFirst(2)
        let title = "manufacturer \(AssignedNumbers.companyTitle(company))"
        return data.isEmpty ? title : "\(title): \(beacon(company, Array(data)) ?? hexadecimal(data))"
    }

    /// Returns the contents of an iBeacon: a UUID, two numbers and the strength of the signal at 1 m.
    private static func beacon(_ company: UInt16, _ data: [UInt8]) -> String? {
        guard company == CompanyIdentifier.apple.rawValue, data.count == 23, data.starts(with: [0x02, 0x15]),
            let uuid = BluetoothUUID(bigEndian: data[2..<18])
        else { return nil }
        func number(_ index: Int) -> Int { Int(data[index]) << 8 | Int(data[index + 1]) }
        return "iBeacon \(uuid), major \(number(18)), minor \(number(20)), \(Int8(bitPattern: data[22])) dBm at 1 m"
    }

    /// The values that describe how to reach the device.
    private static func reach(_ data: AdvertisingData) -> [String] {
        var words: [String] = []
        if let range = data.connectionIntervalRange {
            // In units of 1.25 ms.
            func bound(_ value: UInt16?) -> String {
                value.map { "\(DecimalNumber(Int64($0) * 125, exponent: -2))" } ?? "any"
            }
            words.append("connection interval \(bound(range.minimum)) to \(bound(range.maximum)) ms")
        }
        if let interval = data.advertisingInterval {
            words.append("advertises every \(DecimalNumber(Int64(interval) * 625, exponent: -3)) ms")
        }
        if !data.targetAddresses.isEmpty {
            words.append("directed at \(data.targetAddresses.map { "\($0)" }.joined(separator: ", "))")
        }
        if let uri = data.uri { words.append("URI \(uri.quotedText)") }
        return words
    }

    private static func words(of flags: AdvertisingFlags) -> String {
        ValueText.bits(
            UInt64(flags.rawValue),
            [
                "limited discoverable", "general discoverable", "no BR/EDR", "LE and BR/EDR controller",
                "LE and BR/EDR host",
            ]
        )
    }

    /// The structures of types that have no words above, in hexadecimal.
    private static func rest(_ data: AdvertisingData) -> [String] {
        data.structures.filter { !inWords.contains($0.type) }.map { structure in
            let number = structure.type.rawValue
            let name = AssignedNumbers.advertisingType(number) ?? "type 0x\(hexadecimal([number]))"
            return "\(name): \(structure.payload.isEmpty ? "(empty)" : hexadecimal(structure.payload))"
        }
    }

    private static let inWords: Set<AdvertisingDataType> = [
        .flags, .incompleteServices16, .completeServices16, .incompleteServices32, .completeServices32,
        .incompleteServices128, .completeServices128, .shortenedLocalName, .completeLocalName, .txPowerLevel,
        .peripheralConnectionIntervalRange, .solicitedServices16, .solicitedServices128, .serviceData16,
        .publicTargetAddress, .randomTargetAddress, .appearance, .advertisingInterval, .solicitedServices32,
        .serviceData32, .serviceData128, .uri, .longAdvertisingInterval, .manufacturerData,
    ]
}
