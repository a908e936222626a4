import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// Extended advertisements in forms that this controller does not send, but others do.
@Suite struct ForeignAdvertiserTests {
    private func setUp() -> (LinkLayerWorld, TestHost, ExtendedAttacker) {
        let world = LinkLayerWorld()
        let scanner = world.host()
        scanner.scanExtended(phys: [.le1M])
        return (world, scanner, ExtendedAttacker(world))
    }

    // Core Vol 6 Part B 2.3.1.5: non-connectable advertising may do without AUX_ADV_IND.
    @Test(arguments: [true, false])
    func anAdvertisementOfOnePDU(isDirected: Bool) throws {
        let (world, scanner, foreign) = setUp()
        var header = ExtendedHeader()
        header.advertiser = foreign.address
        header.txPower = -7
        if isDirected { header.target = scanner.address }
        let pdu = AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header)).encoded()
        foreign.send(pdu, channel: 37)
        world.run(.milliseconds(10))
        let report = try #require(scanner.reports.first)
        #expect(report.address == foreign.address)
        #expect(report.data.isEmpty)
        #expect(report.txPower == -7)
        #expect(report.sid == 0xFF)
        #expect(report.secondaryPHY == .none)
        #expect(report.kind == (isDirected ? .directed : []))
        #expect(report.directAddress == (isDirected ? scanner.address : .none))
    }

    // CTEInfo and ACAD are ignored; the interval in SyncInfo is reported.
    @Test func fieldsOfOtherFeatures() throws {
        let (world, scanner, foreign) = setUp()
        var header = ExtendedHeader()
        (header.advertiser, header.info) = (foreign.address, AdvertisingDataInfo(set: 1, data: 1))
        (header.constantTone, header.controllerData) = (0x14, [2, 0x28, 0xFF])
        var sync = SyncInfo()
        sync.interval = 80
        header.sync = sync
        let auxiliary = AdvertisingPDU.extended(.init(mode: .nonConnectable, extended: header, data: [7, 8]))
        foreign.send(foreign.pdu(to: 20), channel: 37)
        foreign.send(auxiliary.encoded(), channel: 20, after: 3_000)
        world.run(.milliseconds(9))
        let report = try #require(scanner.reports.first)
        #expect(report.periodicInterval == 80)
        #expect(report.data == [7, 8])
        #expect(report.sid == 1)
    }

    // The PDU begins within one unit of its offset, plus or minus the clock inaccuracy of 50 or 500 ppm.
    @Test(
        arguments: [
            (3_000, 0, true), (3_000, 29, true), (3_000, 80, false), (240_000, 0, true), (240_000, 29, true),
            (300_000, 0, true), (300_000, 299, true), (300_000, 300 + 200, false), (2_400_000, 299, true),
            (2_400_000, 300 + 600, false), (2_400_000, -150, true),
        ] as [(Int64, Int64, Bool)]
    )
    func pointersAreFollowedInTime(offset: Int64, late: Int64, isHeard: Bool) {
        let (world, scanner, foreign) = setUp()
        let auxiliary = foreign.pdu(data: [1], advertiser: foreign.address)
        foreign.send(foreign.pdu(to: 3, offset: offset, phy: .le2M), channel: 37)
        foreign.send(auxiliary, channel: 3, after: offset + late, phy: .le2M)
        world.run(.seconds(3))
        #expect(scanner.reports.isEmpty != isHeard)
    }

    // Data may arrive in fragments of any size, each PDU on another PHY.
    @Test func aChainOverAllPHYs() {
        let (world, scanner, foreign) = setUp()
        foreign.send(foreign.pdu(to: 1, offset: 3_000, phy: .coded), channel: 37)
        foreign.send(
            foreign.pdu(to: 2, offset: 6_000, phy: .le2M, data: [1], advertiser: foreign.address),
            channel: 1,
            after: 3_000,
            phy: .codedS2
        )
        foreign.send(foreign.pdu(to: 36, offset: 900, data: []), channel: 2, after: 9_000, phy: .le2M)
        foreign.send(foreign.pdu(data: [2, 3]), channel: 36, after: 9_900)
        world.run(.milliseconds(50))
        #expect(scanner.wholeReports.map(\.data) == [[1, 2, 3]])
        #expect(scanner.wholeReports.map(\.kind.dataStatus) == [.complete])
    }

    // Several advertisements with interleaved PDUs.
    @Test func trailsAreKeptApart() {
        let (world, scanner, foreign) = setUp()
        let count = PrimaryListener.maximumTrails
        for number in 0..<count {
            let info = AdvertisingDataInfo(set: UInt8(number), data: 5)
            let pointer = foreign.pdu(to: UInt8(number), offset: 60_000, info: info)
            let auxiliary = foreign.pdu(data: [UInt8(number)], info: info, advertiser: foreign.address)
            foreign.send(pointer, channel: 37, after: Int64(number) * 1_000)
            foreign.send(auxiliary, channel: UInt8(number), after: Int64(number) * 1_000 + 60_000)
        }
        world.run(.milliseconds(100))
        #expect(scanner.reports.map(\.data) == (0..<count).map { [UInt8($0)] })
    }
}
