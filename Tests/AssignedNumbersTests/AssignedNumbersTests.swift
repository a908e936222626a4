import BluetoothTypes
import Testing

@testable import AssignedNumbers

@Suite struct AssignedNumbersTests {
    @Test func uuidsHaveNamesAndKinds() {
        #expect(AssignedNumbers.name(of: 0x180D) == "Heart Rate")
        #expect(AssignedNumbers.kind(of: 0x180D) == .service)
        #expect(AssignedNumbers.title(of: 0x180D) == "Heart Rate (180D)")
        #expect(AssignedNumbers.name(of: 0x181D) == "Weight Scale")
        #expect(AssignedNumbers.name(of: 0x1800) == "Generic Access")
        #expect(AssignedNumbers.name(of: 0x2A9D) == "Weight Measurement")
        #expect(AssignedNumbers.kind(of: 0x2A9D) == .characteristic)
        #expect(AssignedNumbers.name(of: 0x2902) == "Client Characteristic Configuration")
        #expect(AssignedNumbers.kind(of: 0x2902) == .descriptor)
        #expect(AssignedNumbers.kind(of: 0x2800) == .declaration)
        #expect(AssignedNumbers.name(of: 0xFEAA) == "Google LLC")
        #expect(AssignedNumbers.kind(of: 0xFEAA) == .member)
    }

    @Test func aLongUUIDOnTheBaseUUIDHasTheNameOfTheShortOne() throws {
        let long = try #require(BluetoothUUID("0000180D-0000-1000-8000-00805F9B34FB"))
        #expect(AssignedNumbers.title(of: long) == "Heart Rate (180D)")
        let own = try #require(BluetoothUUID("6E6F7465-0000-4861-7261-6C6420303031"))
        #expect(AssignedNumbers.name(of: own) == nil)
        #expect(AssignedNumbers.title(of: own) == own.description)
        #expect(AssignedNumbers.title(of: BluetoothUUID(bits32: 0x1234_180D)) == "1234180D-0000-1000-8000-00805F9B34FB")
        #expect(AssignedNumbers.title(of: 0x0000) == "0000")
        #expect(AssignedNumbers.title(of: 0xFFFF) == "FFFF")
    }

    @Test func companiesAppearancesAndOthersHaveNames() {
        #expect(AssignedNumbers.company(0x004C) == "Apple, Inc.")
        #expect(AssignedNumbers.companyTitle(0x0059) == "Nordic Semiconductor ASA (0x0059)")
        #expect(AssignedNumbers.company(0x0000) == "Ericsson AB")
        #expect(AssignedNumbers.companyTitle(0xFFFF) == "0xFFFF")
        #expect(AssignedNumbers.appearance(0x0341) == "Heart Rate Sensor: Heart Rate Belt")
        #expect(AssignedNumbers.appearance(0x0301) == "Ear Thermometer")
        #expect(AssignedNumbers.appearance(0x0340) == "Heart Rate Sensor")
        #expect(AssignedNumbers.appearance(0x037F) == "Heart Rate Sensor")
        #expect(AssignedNumbers.appearance(0xFFC0) == nil)
        #expect(AssignedNumbers.coreVersion(12) == "5.3")
        #expect(AssignedNumbers.coreVersion(255) == nil)
        #expect(AssignedNumbers.advertisingType(0xFF) == "Manufacturer Specific Data")
        #expect(AssignedNumbers.unit(0x272F) == "Celsius temperature (degree Celsius)")
        #expect(AssignedNumbers.unit(0x180D) == nil)
        #expect(AssignedNumbers.format(6) == "uint16")
        #expect(AssignedNumbers.namespaceDescription(0x0100) == "front")
    }

    @Test func uuidsAreFoundByName() {
        #expect(AssignedNumbers.uuids(named: "heart rate") == [0x180D])
        #expect(AssignedNumbers.uuids(named: "Heart-Rate", AssignedNumbers.Kind.services) == [0x180D])
        #expect(AssignedNumbers.uuids(named: "battery_level", [.characteristic]) == [0x2A19])
        #expect(AssignedNumbers.uuids(named: "battery level", [.service]).isEmpty)
        #expect(AssignedNumbers.uuids(named: "no such thing").isEmpty)
        #expect(AssignedNumbers.uuids(named: "").isEmpty)
        #expect(AssignedNumbers.uuids(named: "-- ").isEmpty)
        // A service and a characteristic.
        #expect(AssignedNumbers.uuids(named: "Current Time") == [0x1805, 0x2A2B])
    }

    @Test(arguments: NumberTable.all)
    func everyEntryOfATableIsFound(_ table: NumberTable) {
        let entries = table.entries
        #expect(!entries.isEmpty)
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.number < $1.number })
        for (number, name) in entries {
            #expect(table[number] == name)
            #expect(!name.isEmpty && name.visible == name)
        }
        let numbers = Set(entries.map(\.number))
        // The numbers beside the entries, which a search that is off by a line would find.
        let beside = Set(entries.flatMap { [$0.number &- 1, $0.number &+ 1] } + [.min, .max])
        for number in beside where !numbers.contains(number) {
            if let wrong = table[number] { Issue.record("\(number) has the name \(wrong)") }
        }
    }

    @Test func theTablesHaveAllNumbers() {
        #expect(NumberTable.companies.entries.count > 4_000)
        #expect(NumberTable.uuids.entries.count > 1_500)
        #expect(NumberTable.appearances.entries.count > 300)
        #expect(NumberTable.uuids.entries.allSatisfy { AssignedNumbers.kind(of: BluetoothUUID($0.number)) != nil })
    }

    @Test func everyLayoutCanBeParsed() throws {
        for (number, text) in NumberTable.layouts.entries where text != "text" {
            let parts = text.split(separator: ";")
            let fields = parts.compactMap { Layout.Field(parsing: $0) }
            #expect(fields.count == parts.count, "\(AssignedNumbers.title(of: BluetoothUUID(number)))")
            #expect(Layout(number) == .numbers(fields))
            for field in fields {
                #expect((-16...0).contains(field.binary) && (-12...6).contains(field.decimal), "\(text)")
                #expect(field.unit.map { AssignedNumbers.unit($0) != nil } ?? true, "\(text)")
            }
        }
    }
}

extension NumberTable {
    static let all: [NumberTable] = [
        companies, uuids, appearances, advertisingTypes, formats, namespaces, versions, layouts,
    ]
}
