import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import Testing

@testable import GAP
@testable import Security

@Suite struct ReportAssemblerTests {
    private static let advertiser = BluetoothAddress(0xC0_0000_0000_01, kind: .randomDevice)
    private static let start = Instant.zero

    private func report(
        _ data: PacketBuffer,
        _ status: LEExtendedReportKind.DataStatus,
        from address: BluetoothAddress = advertiser,
        sid: UInt8 = 1,
        kind: LEExtendedReportKind = []
    ) -> ExtendedAdvertisingReport {
        var report = ExtendedAdvertisingReport()
        report.kind = kind
        report.kind.dataStatus = status
        report.address = address
        report.sid = sid
        report.primaryPHY = .le1M
        report.secondaryPHY = .le2M
        report.txPower = 127
        report.data = data
        return report
    }

    @Test("reserved PHY bits are masked (quirk 10)")
    func bitsOfAPHYThatMeanNothingAreMasked() {
        var odd = report([], .complete)
        odd.primaryPHY.rawValue |= 0xE0
        odd.secondaryPHY.rawValue |= 0xE0
        #expect(ReceivedPacket(odd).phys == Sighting.PHYs(primary: .le1M, secondary: .le2M))
    }

    private func part(_ count: Int, _ octet: UInt8 = 1) -> PacketBuffer {
        PacketBuffer([UInt8](repeating: octet, count: count))
    }

    @Test("AB-H03: fragments of several advertisers are reassembled separately")
    func partsOfSeveralAdvertisersAreJoinedEachWithItsOwn() throws {
        var assembler = ReportAssembler()
        let other = BluetoothAddress(0xC0_0000_0000_02, kind: .randomDevice)
        #expect(assembler.receive(report([1], .moreToCome), at: Self.start) == nil)
        #expect(assembler.receive(report([2], .moreToCome, sid: 2), at: Self.start) == nil)
        #expect(assembler.receive(report([3], .moreToCome, from: other), at: Self.start) == nil)
        #expect(assembler.receive(report([4], .moreToCome, kind: .scanResponse), at: Self.start) == nil)
        #expect(assembler.receive(report([5], .complete), at: Self.start)?.data == [1, 5])
        #expect(assembler.receive(report([6], .complete, sid: 2), at: Self.start)?.data == [2, 6])
        #expect(assembler.receive(report([7], .complete, from: other), at: Self.start)?.data == [3, 7])
        let answer = assembler.receive(report([8], .complete, kind: .scanResponse), at: Self.start)
        let response = try #require(answer)
        #expect(response.data == [4, 8])
        #expect(response.kind == .scanResponse)
        #expect(assembler.count == 0)
        #expect(assembler.total == 0)
        #expect(assembler.dropped == 0)
    }

    @Test("AB-H03: the data of one advertiser are limited to 1,650 octets")
    func oneAdvertiserHas1650OctetsAtMost() {
        var assembler = ReportAssembler()
        for _ in 0..<7 { _ = assembler.receive(report(part(229), .moreToCome), at: Self.start) }
        let whole = assembler.receive(report(part(47), .complete), at: Self.start)
        #expect(whole?.data.count == 1_650)
        // One octet more, in the last part or before it, discards everything.
        for _ in 0..<7 { _ = assembler.receive(report(part(229), .moreToCome), at: Self.start) }
        #expect(assembler.receive(report(part(48), .complete), at: Self.start) == nil)
        #expect(assembler.dropped == 1)
        #expect(assembler.total == 0)
        for _ in 0..<100 { _ = assembler.receive(report(part(229), .moreToCome), at: Self.start) }
        #expect(assembler.total == 0)
        #expect(assembler.count == 1)
        #expect(assembler.receive(report([1], .complete), at: Self.start) == nil)
        #expect(assembler.receive(report([1], .complete), at: Self.start)?.data == [1])
    }

    @Test("AB-H03: an advertisement that is too long counts as dropped once, also if its end never arrives")
    func aLongAdvertisementIsCountedOnce() {
        var assembler = ReportAssembler()
        for _ in 0..<20 { _ = assembler.receive(report(part(229), .moreToCome), at: Self.start) }
        #expect(assembler.dropped == 1)
        #expect(assembler.count == 1)
        assembler.expire(at: Self.start + ReportAssembler.timeout)
        #expect(assembler.dropped == 1)
        #expect(assembler.count == 0)
        #expect(assembler.total == 0)
    }

    @Test("AB-H03: the fragments of all advertisers together are bounded")
    func allAdvertisersTogetherAreBounded() {
        var assembler = ReportAssembler()
        for index in 0..<10_000 {
            let address = BluetoothAddress(UInt64(index), kind: .randomDevice)
            for _ in 0..<5 { _ = assembler.receive(report(part(229), .moreToCome, from: address), at: Self.start) }
            #expect(assembler.count <= ReportAssembler.maximumChains)
            #expect(assembler.total <= ReportAssembler.maximumTotal)
        }
        #expect(assembler.dropped > 9_000)
    }

    @Test("AB-H03: a chain of advertising data that is never completed is freed")
    func aChainThatIsNeverCompletedIsFreed() {
        var assembler = ReportAssembler()
        _ = assembler.receive(report([1], .moreToCome), at: Self.start)
        let later = Self.start + .seconds(1)
        _ = assembler.receive(report([2], .moreToCome, sid: 2), at: later)
        // Further fragments do not extend the deadline.
        _ = assembler.receive(report([3], .moreToCome), at: later)
        #expect(assembler.deadline == Self.start + ReportAssembler.timeout)
        assembler.expire(at: Self.start + ReportAssembler.timeout)
        #expect(assembler.count == 1)
        #expect(assembler.total == 1)
        assembler.expire(at: later + ReportAssembler.timeout)
        #expect(assembler.count == 0)
        #expect(assembler.total == 0)
        #expect(assembler.deadline == nil)
    }

    @Test("AB-H03: truncated advertising data are marked")
    func truncatedDataAreMarked() throws {
        var assembler = ReportAssembler()
        _ = assembler.receive(report([2, 1, 6], .moreToCome), at: Self.start)
        let cut = assembler.receive(report([3], .truncated), at: Self.start)
        let packet = try #require(cut)
        #expect(packet.isTruncated)
        #expect(packet.data == [2, 1, 6, 3])
        var table = DeviceTable()
        let seen = table.receive(packet)
        let sighting = try #require(seen)
        #expect(sighting.isTruncated)
        #expect(sighting.data.flags?.rawValue == 6)
        #expect(assembler.receive(report([1], .reserved), at: Self.start) == nil)
        #expect(assembler.total == 0)
    }

    @Test("AB-H03: a timer frees the advertising data that the scanner holds")
    func aTimerFreesWhatTheScannerHolds() throws {
        let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
        let scanner = HostScanner(host: bench.host, loop: bench.loop, stackEvents: bench.stackEvents)
        bench.up()
        scanner.begin(OwnAddress(Self.advertiser), on: try #require(bench.information))
        var heard: [Sighting] = []
        scanner.onSighting = { heard.append($0) }
        scanner.want(.attentive)
        bench.run()
        bench.inject(LEExtendedAdvertisingReport(reports: [report([2, 1, 6], .moreToCome)]))
        bench.run(.seconds(3))
        // The rest arrives too late and is reported alone.
        bench.inject(LEExtendedAdvertisingReport(reports: [report([2, 1, 4], .complete)]))
        #expect(heard.map(\.data.encoded) == [[2, 1, 4]])
        #expect(heard.first?.phys == Sighting.PHYs(primary: .le1M, secondary: .le2M))
    }

    @Test func anonymousAndDirectedReportsSayWhoAndForWhom() throws {
        var assembler = ReportAssembler()
        let nobody = BluetoothAddress(0x1234, kind: .init(rawValue: 0xFF))
        let unnamed = assembler.receive(report([], .complete, from: nobody), at: Self.start)
        let anonymous = try #require(unnamed)
        #expect(anonymous.advertiser == AdvertiserKey(.none, sid: 1))
        var directed = report([], .complete, kind: [.connectable, .directed, .legacy])
        directed.directAddress = BluetoothAddress(7, kind: .publicDevice)
        directed.sid = 0xFF
        let aimed = assembler.receive(directed, at: Self.start)
        let packet = try #require(aimed)
        #expect(packet.target == BluetoothAddress(7, kind: .publicDevice))
        #expect(packet.kind == .directed)
        #expect(packet.advertiser.sid == nil)
        #expect(packet.phys == nil)
    }

    @Test func legacyScanResponsesMatchAnyAdvertisement() throws {
        var assembler = ReportAssembler()
        var table = DeviceTable()
        let advertisement = report([2, 1, 6], .complete, sid: 0xFF, kind: [.connectable, .scannable, .legacy])
        let response = report(
            [2, 9, 0x41],
            .complete,
            sid: 0xFF,
            kind: [.connectable, .scannable, .scanResponse, .legacy]
        )
        let first = assembler.receive(advertisement, at: Self.start)
        _ = table.receive(try #require(first))
        let second = assembler.receive(response, at: Self.start)
        let merged = table.receive(try #require(second))
        #expect(merged?.hasScanResponse == true)
        #expect(merged?.isConnectable == true)
        #expect(merged?.data.localName?.text == "A")
    }
}

@Suite struct RecencyTableTests {
    @Test func theOldestGivesWay() {
        var table = RecencyTable<Int, String>(limit: 2)
        table.set("a", for: 1)
        table.set("b", for: 2)
        table.set("c", for: 1)
        let pushedOut = table.set("d", for: 3)
        #expect(pushedOut?.key == 2 && table[1] == "c" && table[2] == nil && table[3] == "d")
        table.update(1) { $0 += "c" }
        #expect(table[1] == "cc" && table.oldestEntry?.key == 1)
        #expect(table.removeValue(for: 1) == "cc")
        #expect(table.count == 1)
        #expect(table.popOldest()?.key == 3)
        #expect(table.popOldest() == nil)
    }

    @Test("AB-G02: pinned entries stay in a table that overflows")
    func pinnedEntriesStay() {
        var table = RecencyTable<Int, Int>(limit: 10)
        table.set(-1, for: -1)
        table.keep(-1)
        table.keep(-2)
        for index in 0..<100_000 { table.set(index, for: index) }
        table.set(-2, for: -2)
        for index in 0..<100 { table.set(index, for: index) }
        #expect(table.count == 12 && table[-1] == -1 && table[-2] == -2)
        table.keep(-1)
        table.release(-1)
        for index in 0..<100 { table.set(index, for: index) }
        #expect(table[-1] == -1)
        table.release(-1)
        #expect(table.count == 11)
        for index in 0..<100 { table.set(index, for: index) }
        #expect(table[-1] == nil && table.count == 11)
        table.release(-3)
    }

    /// Random operations give the same results as on a plain list.
    @Test func randomOperationsAgreeWithAPlainModel() {
        let random = RandomSource(seed: 5)
        var table = RecencyTable<UInt64, UInt64>(limit: 8)
        var model: [(key: UInt64, value: UInt64)] = []
        for step in 0..<20_000 {
            let key = random.below(20)
            let index = model.firstIndex { $0.key == key }
            switch random.below(4) {
            case 0:
                #expect(table.removeValue(for: key) == index.map { model[$0].value })
                if let index { model.remove(at: index) }
            case 1:
                #expect(table.use(key) == index.map { model[$0].value })
                if let index { model.append(model.remove(at: index)) }
            default:
                model.removeAll { $0.key == key }
                if model.count == 8 { model.removeFirst() }
                model.append((key, UInt64(step)))
                table.set(UInt64(step), for: key)
            }
            #expect(table.count == model.count)
            #expect(table.oldestEntry?.key == model.first?.key)
            #expect(table[key] == model.first { $0.key == key }?.value)
        }
    }
}
