import AssignedNumbers
import BluetoothTypes

extension FuzzTarget {
    /// A UUID, seven octets of presentation format, and the value of an attribute, which is also an advertisement.
    static let words = FuzzTarget("words", maximumLength: 600, seeds: valuesOfAllKinds) { input in
        var input = input
        let uuid = BluetoothUUID(input.word())
        let format = ValueFormat(PacketBuffer(input.octets(7)))
        let value = FuzzInput(input.rest())

        let text = ValueText.text(of: value.embedded, in: uuid, format: format)
        hold(
            text == ValueText.text(of: value.octets, in: uuid, format: format),
            "a text depends on octets outside of it"
        )
        hold(text == text.visible, "a text could control a terminal")
        hold(!text.isEmpty, "a text is empty")
        // An octet of text becomes up to six characters, and an octet of flags eight words.
        hold(text.utf8.count <= 300 + 40 * value.octets.count, "a text of \(text.utf8.count) octets")

        let data = AdvertisingData(parsing: value.embedded)
        let words = AdvertisementText.words(of: data, omitting: [])
        hold(words == AdvertisementText.words(of: AdvertisingData(parsing: value.whole), omitting: []), "as above")
        hold(words.allSatisfy { $0 == $0.visible }, "words could control a terminal")
        hold(words.joined().utf8.count <= 400 + 200 * value.octets.count, "words without input for them")
    }

    /// An input for each characteristic and descriptor, with all flags and with none.
    private static var valuesOfAllKinds: [[UInt8]] {
        let advertisement: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x0D, 0x18, 0x03, 0xFF, 0x59, 0x00]
        var seeds: [[UInt8]] = [[0, 0, 0x19, 0, 0, 0x27, 1, 0, 0] + advertisement]
        for number in [0x2900...0x2910, 0x2A00...0x2C30].joined() {
            for (flags, octet) in [(0, 0x12), (0xFF, 0xEE)] as [(UInt8, UInt8)] {
                let format: [UInt8] = [0x0E, 0xFE, 0x2F, 0x27, 1, 0, 1]
                let value = [flags, flags] + [UInt8](repeating: octet, count: 40)
                seeds.append([UInt8(number & 0xFF), UInt8(number >> 8)] + format + value)
            }
        }
        return seeds
    }
}
