import AssignedNumbers
import BluetoothTypes
import Testing

@Suite struct AdvertisementTextTests {
    private func words(_ digits: String, omitting: AdvertisementText.Omissions = [.name, .flags]) -> [String] {
        let characters = Array(digits.filter { !$0.isWhitespace })
        let octets = stride(from: 0, to: characters.count, by: 2).compactMap {
            UInt8(String(characters[$0...$0 + 1]), radix: 16)
        }
        return AdvertisementText.words(of: AdvertisingData(parsing: PacketBuffer(octets)), omitting: omitting)
    }

    @Test func servicesHaveNames() {
        #expect(words("02011a 03030d18 060950756c7365") == ["services Heart Rate (180D)"])
        #expect(
            words("02011a 03030d18 060950756c7365", omitting: []) == [
                #"name "Pulse""#, "services Heart Rate (180D)",
                "flags general discoverable, LE and BR/EDR controller, LE and BR/EDR host",
            ]
        )
        #expect(words("05020d180f18") == ["services Heart Rate (180D), Battery (180F)"])
        #expect(words("03140d18") == ["solicits Heart Rate (180D)"])
    }

    @Test func otherStructuresHaveWords() {
        #expect(words("05ff59000102") == ["manufacturer Nordic Semiconductor ASA (0x0059): 0102"])
        #expect(words("03ffffff") == ["manufacturer 0xFFFF"])
        #expect(words("02ff59") == ["manufacturer data without a company: 59"])
        #expect(
            words("1aff4c000215 000102030405060708090a0b0c0d0e0f 0001 0002 c5") == [
                "manufacturer Apple, Inc. (0x004C): iBeacon 00010203-0405-0607-0809-0A0B0C0D0E0F, major 1, minor 2, -59 dBm at 1 m"
            ]
        )
        #expect(words("04160f1864") == [#"data of Battery (180F): 64 "d""#])
        #expect(words("03194103") == ["appearance Heart Rate Sensor: Heart Rate Belt (0x0341)"])
        #expect(words("020afc") == ["tx power -4 dBm"])
        #expect(words("05121800ffff") == ["connection interval 30 to any ms"])
        #expect(words("031aa000") == ["advertises every 100 ms"])
        #expect(words("0717010203040506") == ["directed at 06:05:04:03:02:01"])
        #expect(words("082417 2f2f612e6227") == [#"URI "https://a.b'""#])
    }

    @Test func unknownStructuresAreHexadecimal() {
        #expect(words("0399 0102") == ["type 0x99: 0102"])
        #expect(words("0199") == ["type 0x99: (empty)"])
        #expect(words("043d 000102") == ["3D Information Data: 000102"])
        #expect(words("") == [])
    }

    @Test func aNameCannotControlTheTerminal() {
        #expect(words("05 09 1b5b324a", omitting: .flags) == [#"name "\u{1b}[2J""#])
        #expect(words("05 24 01 1b5b32") == [#"URI "\u{1b}[2""#])
    }
}
