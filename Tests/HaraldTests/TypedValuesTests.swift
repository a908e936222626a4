import BluetoothTypes
import Testing

@testable import harald

/// UUIDs and values as users type them.
@Suite struct TypedValuesTests {
    @Test(arguments: ["6400", "0x6400", "64 00", "64:00", "64-00", "0x64,0x00", "0X64, 0x00", " 64 00 "])
    func valueForms(text: String) throws {
        #expect(try typedValue(text) == [0x64, 0x00])
    }

    @Test("an empty value is written as such, and separators alone are none")
    func emptyValue() throws {
        #expect(try typedValue("").isEmpty)
        #expect(throws: TypedValueError.notHexadecimal("::")) { try typedValue("::") }
        #expect(throws: TypedValueError.notHexadecimal("0x")) { try typedValue("0x") }
    }

    @Test(arguments: [("100", "100"), ("6", "6"), ("0x6", "0x6"), ("64:0", "0")])
    func oddDigits(text: String, part: String) throws {
        let error = try #require(throws: TypedValueError.self) { try typedValue(text) }
        #expect(error == .oddDigits(part))
        #expect("\(error)" == "\"\(part)\" has an odd number of hexadecimal digits; each octet has two, such as 06")
    }

    @Test func messagesKeepBackslashes() {
        #expect("\(TypedValueError.notHexadecimal("\\x64"))".hasPrefix("\"\\x64\" is not"))
    }

    @Test func uuidsAndServices() {
        #expect(typedUUID("0x2A38") == 0x2A38 && typedUUID("2a38") == 0x2A38 && typedUUID("0x2A3") == nil)
        #expect(typedService("0x180D") == 0x180D && typedService("heart rate") == 0x180D)
        #expect(typedService("Heart Rate Measurement") == nil && typedService("nothing") == nil)
        #expect(DeviceSelector(argument: "service:Heart Rate")?.service == 0x180D)
        #expect(DeviceSelector(argument: "service:0x180d")?.service == 0x180D)
        #expect(DeviceSelector(argument: "service:rate of heart") == nil)
        #expect(DeviceSelector(argument: "7F:0A:87:07:9C:9F")?.isAddress == true)
    }
}
