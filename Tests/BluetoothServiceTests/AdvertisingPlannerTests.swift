import BluetoothTypes
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import ServiceEvents

@Suite struct AdvertisingPlannerTests {
    private static let long = BluetoothUUID(high: 0x2F23_4454_CF6D_4A0F, low: 0xADF2_F491_1BA9_FFA6)
    private static let other = BluetoothUUID(high: 1, low: 1)

    private func plan(_ name: String?, _ services: [BluetoothUUID]) -> AdvertisingPlan {
        AdvertisingPlanner.plan(for: [AdvertisingContent(localName: name, services: services)])
    }

    @Test("behaviour 7.20: the advertising flags equal an iPhone's")
    func flagsOfAPlan() {
        #expect(plan(nil, []).advertisement.encoded == [0x02, 0x01, 0x1A])
    }

    @Test("behaviour 7.18: the name and the services share the advertisement")
    func nameAndServicesShareTheAdvertisement() {
        let plan = plan("Heart", [0x180D, 0x180F])
        #expect(plan.advertisement.encoded.description == "02011a" + "05030d180f18" + "06094865617274")
        #expect(plan.scanResponse.isEmpty)
        #expect(plan.overflow.isEmpty)
        #expect(!plan.isNameShortened)
    }

    @Test("behaviour 7.19: headers count towards the 28 and 10 octets for apps")
    func headersCountIn28And10() {
        // 18 octets for a 128-bit service UUID leave 10 for the name: 8 characters.
        #expect(plan("12345678", [Self.long]).advertisement.encodedLength == 31)
        #expect(plan("12345678", [Self.long]).advertisement.localName == .init("12345678"))
        // Without services, 26 octets remain for the name.
        let name = String(repeating: "n", count: 26)
        #expect(plan(name, []).advertisement.localName == .init(name))
        #expect(plan(name + "n", []).advertisement.localName == .init(name, isShortened: true))
        // 13 16-bit service UUIDs fill the 28 octets.
        let many = (0..<14).map { BluetoothUUID(0x1800 + UInt16($0)) }
        #expect(plan(nil, Array(many.prefix(13))).overflow.isEmpty)
        #expect(plan(nil, many).overflow == [many[13]])
    }

    @Test("behaviour 7.18: the scan response contains only the name")
    func theScanResponseTakesOnlyTheName() {
        // 24 octets of services leave no space for the name; the scan response has space for 8 characters after them.
        let services = (0..<12).map { BluetoothUUID(0x1810 + UInt16($0)) }
        let plan = plan("12345678", services)
        #expect(plan.advertisement.localName == nil)
        #expect(plan.scanResponse.encoded.description == "0909" + "3132333435363738")
        #expect(plan.overflow.isEmpty)
        let shortened = self.plan("123456789", services)
        #expect(shortened.scanResponse.localName == .init("12345678", isShortened: true))
        #expect(shortened.isNameShortened)
    }

    @Test("behaviour 7.21: a name is shortened next to a service")
    func aNameIsShortenedBesideAService() {
        let plan = plan("A very long name", [Self.long])
        #expect(plan.advertisement.localName == .init("A very l", isShortened: true))
        #expect(plan.isNameShortened)
        #expect(plan.shortenedName == "A very l")
        #expect(self.plan("Short", [Self.long]).shortenedName == nil)
        #expect(self.plan(nil, [Self.long]).shortenedName == nil)
        // The scan response has the name.
        #expect(self.plan("123456789", (0..<12).map { BluetoothUUID(0x1810 + $0) }).shortenedName == "12345678")
        // A family of four is a single character of 25 octets.
        #expect(self.plan("👩‍👩‍👧‍👦", [Self.long]).shortenedName == "")
    }

    @Test("behaviour 7.22: services that do not fit go into the overflow area")
    func servicesWithoutRoomOverflow() {
        let plan = plan("Phone", [Self.long, Self.other])
        #expect(plan.advertisement.serviceUUIDs == [Self.long])
        #expect(plan.overflow == [Self.other])
        #expect(OverflowArea(in: plan.scanResponse)?.mayContain(Self.other) == true)
        #expect(OverflowArea(in: plan.scanResponse)?.mayContain(Self.long) == false)
    }

    @Test("behaviour 2.37: the plan for two long services and a name equals a captured advertisement")
    func theCapturedAdvertisement() {
        // As captured: 31 octets with an incomplete list of one service and a shortened name; 21 in the scan response.
        let plan = plan("Somebody's phone", [Self.long, Self.other])
        #expect(plan.advertisement.encodedLength == 31)
        #expect(plan.advertisement.structures.map(\.type) == [.flags, .incompleteServices128, .shortenedLocalName])
        #expect(plan.scanResponse.encodedLength == 21)
    }

    @Test("behaviour 7.23: only a service list that lacks UUIDs of its own width is marked incomplete")
    func listsAreIncompleteByWidth() {
        let plan = plan(nil, [0x180D, Self.long, Self.other])
        #expect(plan.advertisement.structures.map(\.type) == [.flags, .completeServices16, .incompleteServices128])
    }

    @Test("behaviour 7.23: a UUID that was written in its long form is advertised with 128 bits")
    func longFormsAreAdvertisedLong() throws {
        let long = try #require(BluetoothUUID("0000FEED-0000-1000-8000-00805F9B34FB"))
        let plan = plan("ox12345678", [long, 0xFEED, 0x180D])
        // The UUID is advertised once, and leaves room for one short list beside it.
        #expect(plan.advertisement.encoded.description.hasPrefix("02011a" + "03030d18" + "1107"))
        #expect(plan.overflow.isEmpty)
    }

    @Test("behaviour 7.23: UUIDs that were written in a short form are advertised in the shortest")
    func shortFormsAreUsedWhereThereAreAny() throws {
        let heartRate = try #require(BluetoothUUID("0000180D"))
        #expect(plan(nil, [heartRate]).advertisement.encoded.suffix(after: 3) == [0x03, 0x03, 0x0D, 0x18])
    }

    @Test("behaviour 7.30: apps share one advertisement")
    func appsShareOneAdvertisement() {
        let plan = AdvertisingPlanner.plan(for: [
            AdvertisingContent(services: [0x180D]), AdvertisingContent(localName: "One", services: [0x180D, 0x180F]),
            AdvertisingContent(localName: "Two"),
        ])
        #expect(plan.advertisement.serviceUUIDs == [0x180D, 0x180F])
        #expect(plan.advertisement.localName == .init("One"))
    }

    @Test func namesAreCutBetweenCharacters() {
        #expect(AdvertisingPlanner.shorten("Grüße", to: 3).text == "Gr")
        #expect(AdvertisingPlanner.shorten("👩‍👩‍👧", to: 8).text.isEmpty)
        #expect(AdvertisingPlanner.shorten("abc", to: -1).text.isEmpty)
    }

    @Test(arguments: 0..<200)
    func noPlanIsLongerThanItsPackets(seed: Int) {
        let widths = (0..<(seed % 17)).map { index in
            (seed * 31 + index * 7) % 3 == 0
                ? BluetoothUUID(high: UInt64(seed), low: UInt64(index)) : BluetoothUUID(UInt16(index))
        }
        let plan = plan(String(repeating: "ü", count: seed % 40), widths)
        #expect(plan.advertisement.encodedLength <= 31)
        #expect(plan.scanResponse.encodedLength <= 31)
        #expect(plan.advertisement.serviceUUIDs.count + plan.overflow.count == Set(widths).count)
    }

    private func data(_ octets: Int) -> AdvertisingStructure {
        AdvertisingStructure(.manufacturerData, PacketBuffer([UInt8](repeating: 0xFF, count: octets - 2)))
    }

    @Test(
        "behaviour 15.16: manufacturer and service data come before services and names, and go into the scan response if necessary"
    )
    func dataComeFirst() {
        let content = AdvertisingContent(localName: "12345678", services: [Self.long], data: [data(20), data(10)])
        let plan = AdvertisingPlanner.plan(for: [content])
        #expect(plan.advertisement.structures.dropFirst().first == data(20))
        #expect(plan.scanResponse.structures.first == data(10))
        #expect(plan.leftOut.isEmpty)
        #expect(plan.overflow == [Self.long])
        #expect(plan.advertisement.localName == .init("123456", isShortened: true))
        #expect(plan.advertisement.encodedLength == 31)
        #expect(plan.scanResponse.encodedLength == 31)
    }

    @Test(
        "behaviour 15.16: data that was accepted still fits when other advertisements end, and no plan exceeds a packet"
    )
    func dataStay() {
        let random = RandomSource(seed: 15)
        for _ in 0..<4_000 {
            var contents: [AdvertisingContent] = []
            for _ in 0..<random.below(6) + 1 {
                let services = (0..<random.below(3)).map { _ in
                    random.below(2) == 0 ? Self.long : BluetoothUUID(UInt16(random.below(0x1000)))
                }
                let new = AdvertisingContent(
                    localName: random.below(2) == 0 ? "A name" : nil,
                    services: services,
                    data: (0..<random.below(3)).map { _ in data(Int(random.below(20)) + 2) }
                )
                if AdvertisingPlanner.plan(for: contents + [new]).leftOut.isEmpty { contents.append(new) }
            }
            while !contents.isEmpty {
                let plan = AdvertisingPlanner.plan(for: contents)
                #expect(plan.leftOut.isEmpty, "\(contents)")
                #expect(plan.advertisement.encodedLength <= 31)
                #expect(plan.scanResponse.encodedLength <= 31)
                contents.remove(at: Int(random.below(UInt64(contents.count))))
            }
        }
    }
}
