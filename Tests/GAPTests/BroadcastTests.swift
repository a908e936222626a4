import BluetoothTypes
import HCI
import HCIHost
import Testing

@testable import GAP

/// Broadcast mode and the observation procedure (Core Vol 3 Part C 9.1), between two complete stacks.
@Suite struct BroadcastTests {
    private static let data = AdvertisingData([
        .services([0x1801], width: .bits16, isComplete: true), .localName(.init("Harald")),
    ])
    private static let more = AdvertisingData([.appearance(0x0341)])

    private func broadcast(
        _ advertisement: AdvertisingConfiguration,
        in mode: ControllerMode
    ) throws -> (sender: GAPDevice, heard: [Sighting], broadcaster: HostAdvertisingSet) {
        let world = GAPWorld(mode)
        let (sender, listener) = (world.device(), world.device())
        let broadcaster = sender.access.advertiser.addSet()
        var failure: GAPError?
        broadcaster.onFailed = { failure = $0 }
        broadcaster.want(advertisement)
        let heard = try listener.hear()
        #expect(failure == nil)
        return (sender, heard, broadcaster)
    }

    @Test("GAP/BROB/BCST/BV-01: a broadcast without a scan response is observed", arguments: ControllerMode.allCases)
    func broadcastWithoutAScanResponse(mode: ControllerMode) throws {
        let (sender, heard, _) = try broadcast(AdvertisingConfiguration(.nonConnectable, data: Self.data), in: mode)
        let sighting = try #require(heard.first)
        #expect(heard.allSatisfy { $0.kind == .nonConnectable && $0.address == sender.address && !$0.hasScanResponse })
        #expect(sighting.data == Self.data)
        #expect(!sighting.isConnectable)
        #expect(sender.log.contains(LESetAdvertisingParameters.self) == (mode == .legacy))
        #expect(sender.log.contains(LESetExtendedAdvertisingParameters.self) == (mode == .extended))
    }

    @Test("GAP/BROB/BCST/BV-02: a broadcast with a scan response is observed", arguments: ControllerMode.allCases)
    func broadcastWithAScanResponse(mode: ControllerMode) throws {
        let advertisement = AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.more)
        let (_, heard, _) = try broadcast(advertisement, in: mode)
        let answered = try #require(heard.first { $0.hasScanResponse })
        #expect(answered.data == Self.data.merged(with: Self.more))
        #expect(heard.allSatisfy { !$0.isConnectable })
    }

    @Test("GAP/BROB/OBSV/BV-01: passive observation receives no scan responses", arguments: ControllerMode.allCases)
    func passiveObservation(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (sender, listener) = (world.device(), world.device())
        let broadcaster = sender.access.advertiser.addSet()
        broadcaster.want(AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.more))
        let heard = try listener.hear(ScanSettings(isActive: false))
        #expect(!heard.isEmpty)
        #expect(heard.allSatisfy { $0.data == Self.data && !$0.hasScanResponse })
    }

    @Test("GAP/BROB/OBSV/BV-02: active observation receives scan responses", arguments: ControllerMode.allCases)
    func activeObservation(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let (sender, listener) = (world.device(), world.device())
        let broadcaster = sender.access.advertiser.addSet()
        broadcaster.want(AdvertisingConfiguration(.scannable, data: Self.data, scanResponse: Self.more))
        let heard = try listener.hear(ScanSettings(isActive: true))
        #expect(heard.contains { $0.hasScanResponse && $0.data.appearance == 0x0341 })
        #expect(listener.log.contains(LESetExtendedScanEnable.self) == (mode == .extended))
        #expect(listener.log.contains(LESetScanEnable.self) == (mode == .legacy))
    }

    @Test("a second scan is refused until the first one ends", arguments: ControllerMode.allCases)
    func scansExcludeEachOther(mode: ControllerMode) throws {
        let world = GAPWorld(mode)
        let listener = world.device()
        let (observer, other) = (Observer(listener.access), Observer(listener.access))
        try observer.observe(.attentive, onSighting: { _ in })
        #expect(throws: GAPError.busy) { try other.observe(.attentive, onSighting: { _ in }) }
        observer.stop()
        try other.observe(.attentive, onSighting: { _ in })
    }

    @Test func dataOf1650OctetsAreHeardWhole() throws {
        let structures = (0..<6).map { index in
            AdvertisingStructure.manufacturerData(
                CompanyIdentifier(rawValue: 0xFFFF),
                PacketBuffer([UInt8](repeating: UInt8(index), count: 250))
            )
        }
        let data = AdvertisingData(
            structures + [.manufacturerData(.apple, PacketBuffer([UInt8](repeating: 9, count: 122)))]
        )
        let world = GAPWorld(.extended)
        let (sender, listener) = (world.device(), world.device())
        let limit = try #require(sender.access.controllerInformation?.maxAdvertisingDataLength)
        try #require(data.encodedLength <= limit)
        let broadcaster = sender.access.advertiser.addSet()
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: data)
        advertisement.packets = .extended(.init())
        var failure: GAPError?
        broadcaster.onFailed = { failure = $0 }
        broadcaster.want(advertisement)
        let heard = try listener.hear(for: .seconds(4))
        #expect(failure == nil)
        let sighting = try #require(heard.first { !$0.isTruncated })
        #expect(sighting.data == data)
        #expect(sighting.phys != nil)
        #expect(sighting.sid == 0)
    }

    @Test func anAnonymousBroadcastHasNoAddress() throws {
        let world = GAPWorld(.extended)
        let (sender, listener) = (world.device(), world.device())
        let broadcaster = sender.access.advertiser.addSet()
        var options = AdvertisingConfiguration.ExtendedPackets()
        options.isAnonymous = true
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: Self.data)
        advertisement.packets = .extended(options)
        broadcaster.onFailed = { Issue.record("the broadcast failed: \($0)") }
        broadcaster.want(advertisement)
        let heard = try listener.hear()
        #expect(!heard.isEmpty)
        #expect(heard.allSatisfy { $0.isAnonymous && $0.data == Self.data })
    }

    @Test("broadcasts that the specification or the controller does not allow fail at once")
    func invalidBroadcastsFailAtOnce() throws {
        func failure(_ mode: ControllerMode, _ advertisement: AdvertisingConfiguration) -> GAPError? {
            let broadcaster = GAPWorld(mode).device().access.advertiser.addSet()
            var failure: GAPError?
            broadcaster.onFailed = { failure = $0 }
            broadcaster.want(advertisement)
            return failure
        }
        let long = AdvertisingData([.manufacturerData(.apple, PacketBuffer([UInt8](repeating: 1, count: 40)))])
        #expect(
            failure(.extended, AdvertisingConfiguration(.nonConnectable, data: long))
                == .advertisingData(.tooLong(octets: 44, limit: 31))
        )
        var extended = AdvertisingConfiguration(.nonConnectable, data: long)
        extended.packets = .extended(.init())
        #expect(failure(.legacy, extended) == .needsExtendedAdvertising)
        #expect(failure(.legacy, AdvertisingConfiguration(.nonConnectable, scanResponse: Self.more)) != nil)
        let twice = AdvertisingData([.txPowerLevel(1), .txPowerLevel(2)])
        #expect(
            failure(.legacy, AdvertisingConfiguration(.nonConnectable, data: twice))
                == .advertisingData(.repeated(.txPowerLevel))
        )
    }

    @Test func eachPurposeHasASetOfItsOwnOnAnExtendedController() throws {
        let world = GAPWorld(.extended)
        let (sender, listener) = (world.device(), world.device())
        let first = sender.access.advertiser.addSet()
        let second = sender.access.advertiser.addSet()
        first.want(AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([.localName(.init("one"))])))
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([.localName(.init("two"))]))
        advertisement.packets = .extended(.init())
        second.want(advertisement)
        let names = Set(try listener.hear().compactMap { $0.data.localName?.text })
        #expect(names == ["one", "two"])
        first.want(nil)
        world.run(.milliseconds(100))
        #expect(Set(try listener.hear().compactMap { $0.data.localName?.text }) == ["two"])
    }

    @Test func aLegacyControllerAdvertisesOneThingAtATime() throws {
        let sender = GAPWorld(.legacy).device()
        let first = sender.access.advertiser.addSet()
        let second = sender.access.advertiser.addSet()
        first.want(AdvertisingConfiguration(.nonConnectable, data: Self.data))
        var failure: GAPError?
        second.onFailed = { failure = $0 }
        second.want(AdvertisingConfiguration(.nonConnectable, data: Self.data))
        #expect(failure == .noAdvertisingSetLeft(maximum: 1))
        first.want(nil)
        sender.world.run(.milliseconds(100))
        failure = nil
        second.want(AdvertisingConfiguration(.nonConnectable, data: Self.data))
        sender.world.run(.milliseconds(100))
        #expect(failure == nil)
    }
}
