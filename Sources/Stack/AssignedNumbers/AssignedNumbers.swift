import BluetoothTypes

// How to turn numbers and octets into text for a user:
//
//     AssignedNumbers.name(of: 0x180D)                  "Heart Rate", or nil
//     AssignedNumbers.title(of: uuid)                   "Heart Rate (180D)", or the UUID alone
//     AssignedNumbers.companyTitle(0x0059)              "Nordic Semiconductor ASA (0x0059)"
//     AssignedNumbers.appearance(832)                   "Heart Rate Sensor"
//     AssignedNumbers.uuids(named: "heart-rate", [.service])    [180D]
//
//     ValueText.text(of: value, in: 0x2A37)             "77 bpm, contact, energy 3 kJ"; hexadecimal if unknown
//     ValueText.words(of: value, in: 0x2A37)            the same, or nil if unknown
//     ValueText.hexadecimal(value)                      "0e4d0300", for --raw
//     ValueFormat(descriptor)                    what a descriptor 2904 says of a value without a known format:
//     ValueText.text(of: value, in: uuid, format:)
//
//     AdvertisementText.words(of: data)                 ["services Heart Rate (180D)", "tx power -4 dBm"]
//
// All text is safe for a terminal, and its length is bounded: the octets and UUIDs may come from any device.

/// The names of the numbers that the Bluetooth SIG assigns.
///
/// The names come from the tables that Scripts/assigned_numbers.py generates.
package enum AssignedNumbers {
    /// The purpose of a 16-bit UUID (Bluetooth Assigned Numbers 3).
    package enum Kind: Character, Sendable, CaseIterable {
        case service = "s"
        /// A service of a member of the SIG. Its name is that of the member.
        case member = "m"
        /// A service of another standards organization.
        case standard = "o"
        case characteristic = "c"
        case descriptor = "d"
        /// A type of attribute that declares a service or characteristic.
        case declaration = "e"
        case unit = "u"
        case objectType = "t"
        case meshProfile = "f"
        case serviceClass = "k"
        case protocolIdentifier = "p"
        case browseGroup = "b"

        /// The kinds that a GATT service can have.
        package static let services: Set<Kind> = [.service, .member, .standard]
    }

    // MARK: UUIDs

    /// Returns the name of a UUID, whatever its kind; nil if it has no assigned 16-bit number.
    package static func name(of uuid: BluetoothUUID) -> String? {
        entry(of: uuid)?.name
    }

    /// Returns what a UUID identifies; nil if it has no assigned 16-bit number.
    package static func kind(of uuid: BluetoothUUID) -> Kind? {
        entry(of: uuid)?.kind
    }

    /// Returns the name and the number, such as `Heart Rate (180D)`, or the UUID alone.
    package static func title(of uuid: BluetoothUUID) -> String {
        let number = uuid.attributeForm.description
        return name(of: uuid).map { "\($0) (\(number))" } ?? number
    }

    /// Returns the UUIDs with a name, in ascending order.
    ///
    /// Case, spaces and punctuation do not count: `Heart Rate`, `heart-rate` and `heartrate` are the same.
    package static func uuids(named name: String, _ kinds: Set<Kind> = Set(Kind.allCases)) -> [BluetoothUUID] {
        (numbersByLetters[letters(of: name)] ?? []).filter { kinds.contains($0.kind) }.map { BluetoothUUID($0.number) }
    }

    /// The numbers of each name, in ascending order. Comparing a name with the whole table would take as long each time.
    private static let numbersByLetters: [String: [(number: UInt16, kind: Kind)]] = {
        var numbers: [String: [(number: UInt16, kind: Kind)]] = [:]
        for (number, text) in NumberTable.uuids.entries {
            guard let (kind, name) = split(text) else { continue }
            numbers[letters(of: name), default: []].append((number, kind))
        }
        return numbers
    }()

    private static func entry(of uuid: BluetoothUUID) -> (kind: Kind, name: String)? {
        uuid.uint16.flatMap { NumberTable.uuids[$0] }.flatMap(split)
    }

    /// Splits a line of the table of UUIDs into the letter of the kind, and the name.
    private static func split(_ text: String) -> (kind: Kind, name: String)? {
        guard let kind = text.first.flatMap(Kind.init) else { return nil }
        return (kind, String(text.dropFirst(2)))
    }

    private static func letters(of name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    // MARK: Companies and devices

    /// Returns the name of a company identifier (Bluetooth Assigned Numbers 7).
    package static func company(_ identifier: UInt16) -> String? {
        NumberTable.companies[identifier]
    }

    /// Returns the name and the number of a company, such as `Apple, Inc. (0x004C)`, or the number alone.
    package static func companyTitle(_ identifier: UInt16) -> String {
        let number = "0x\(digits(identifier))"
        return company(identifier).map { "\($0) (\(number))" } ?? number
    }

    /// Returns the name of an appearance, such as `Computer: Laptop` (Bluetooth Assigned Numbers 2.6).
    ///
    /// An unassigned subcategory has the name of its category. One that includes that name, such as `Ear Thermometer`,
    /// stands alone.
    package static func appearance(_ number: UInt16) -> String? {
        guard let category = NumberTable.appearances[number & ~0x3F] else { return nil }
        guard number & 0x3F != 0, let subcategory = NumberTable.appearances[number] else { return category }
        return subcategory.hasSuffix(category) ? subcategory : "\(category): \(subcategory)"
    }

    /// Returns the version of the Core Specification with this number, such as `5.3` for 12.
    package static func coreVersion(_ number: UInt8) -> String? {
        NumberTable.versions[UInt16(number)]
    }

    // MARK: Formats

    /// Returns the name of a type of AD structure, such as `Tx Power Level`.
    package static func advertisingType(_ number: UInt8) -> String? {
        NumberTable.advertisingTypes[UInt16(number)]
    }

    /// Returns the name of a unit, such as `pressure (pascal)`.
    package static func unit(_ number: UInt16) -> String? {
        kind(of: BluetoothUUID(number)) == .unit ? name(of: BluetoothUUID(number)) : nil
    }

    /// Returns the name of a format of a characteristic, such as `uint16`.
    package static func format(_ number: UInt8) -> String? {
        NumberTable.formats[UInt16(number)]
    }

    /// Returns a description of the SIG's namespace, such as `front`.
    package static func namespaceDescription(_ number: UInt16) -> String? {
        NumberTable.namespaces[number]
    }

    /// Returns a number as four upper-case hexadecimal digits, as in UUIDs.
    static func digits(_ number: UInt16) -> String {
        BluetoothUUID(number).description
    }
}
