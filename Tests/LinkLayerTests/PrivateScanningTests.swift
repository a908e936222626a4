import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Privacy in the scanning state (Core Vol 6 Part B 6.3), and which scanners an advertiser answers (6.2).
@Suite struct PrivateScanningTests {
    private let world = LinkLayerWorld()
    private let advertiser: TestHost
    private let scanner: TestHost
    private let log: AirLog

    init() {
        (advertiser, scanner) = (world.host(), world.host(at: 1))
        log = AirLog(world)
    }

    // MARK: Reports

    @Test(arguments: CommandSet.allCases, [LEScanKind.passive, .active])
    func aPrivateAdvertiserIsReportedByItsIdentity(commands: CommandSet, kind: LEScanKind) throws {
        advertiser.list(scanner)
        scanner.befriend(advertiser)
        advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 2))
        advertiser.advertise(commands, peer: scanner.address)
        scanner.scan(commands, kind)
        world.run(.seconds(5))
        #expect(scanner.heard(commands) == [advertiser.address.identity])
        #expect(log.advertisers.count == 3)
        let read = try scanner.read(LEReadPeerResolvableAddress(peerIdentity: advertiser.address))
        #expect(read.status == .success)
        #expect(read.address == log.advertisers.last)
    }

    @Test(arguments: CommandSet.allCases)
    func withoutResolvingItIsReportedAsItIs(commands: CommandSet) throws {
        advertiser.list(scanner)
        scanner.list(advertiser)
        advertiser.advertise(commands, peer: scanner.address)
        scanner.scan(commands)
        world.run(.seconds(1))
        #expect(scanner.heard(commands) == Set(log.advertisers))
        let read = try scanner.read(LEReadPeerResolvableAddress(peerIdentity: advertiser.address))
        #expect(read.status == .unknownConnection)
    }

    @Test(arguments: CommandSet.allCases)
    func aStaticIdentityHasAKindOfItsOwn(commands: CommandSet) {
        let identity = BluetoothAddress(0xC000_0000_0077, kind: .randomDevice)
        advertiser.list(scanner)
        scanner.list(identity, key: advertiser.identityKey, localKey: .zero)
        scanner.resolve()
        advertiser.advertise(commands, peer: scanner.address)
        scanner.scan(commands)
        world.run(.seconds(1))
        #expect(scanner.heard(commands) == [BluetoothAddress(identity.value, kind: .randomIdentity)])
    }

    @Test(arguments: CommandSet.allCases)
    func aDuplicateIsKnownByItsIdentity(commands: CommandSet) {
        advertiser.list(scanner)
        scanner.befriend(advertiser)
        advertiser.send(LESetResolvablePrivateAddressTimeout(timeout: 1))
        advertiser.advertise(commands, peer: scanner.address)
        scanner.scan(commands, filter: .enabled)
        world.run(.milliseconds(5_500))
        // New data, which have a new DID, cause another report.
        let count = commands == .legacy ? scanner.events(LEAdvertisingReport.self).count : scanner.reports.count
        #expect(count == (commands == .legacy ? 1 : log.identifiers.count))
        #expect(log.advertisers.count == 6)
    }

    @Test(
        "AB-L11: a scanner ignores an identity that should be hidden",
        arguments: CommandSet.allCases.flatMap { commands in
            [LEPrivacyMode.network, .device].map { (commands, $0) }
        },
        [true, false]
    )
    func anIdentityThatShouldBeHiddenIsIgnored(_ set: (CommandSet, LEPrivacyMode), isResolving: Bool) {
        let (commands, mode) = set
        scanner.list(advertiser)
        scanner.mode(mode, for: advertiser)
        scanner.resolve(isResolving)
        advertiser.advertise(commands, as: .publicDevice)
        scanner.scan(commands, .active, as: .resolvableOrPublic)
        world.run(.seconds(1))
        #expect(scanner.heard(commands) == (mode == .network ? [] : [advertiser.address]))
        #expect(log.scanners.isEmpty == (mode == .network || commands == .extended))
    }

    @Test(arguments: CommandSet.allCases)
    func aPeerWithoutAKeyMayShowItsIdentity(commands: CommandSet) {
        scanner.befriend(advertiser, hasKey: false)
        advertiser.advertise(commands, as: .publicDevice)
        scanner.scan(commands)
        world.run(.seconds(1))
        #expect(scanner.heard(commands) == [advertiser.address])
    }

    // MARK: Requests

    @Test(arguments: [OwnAddressKind.resolvableOrPublic, .resolvableOrRandom], [true, false])
    func aScannerHidesFromThoseItKnows(own: OwnAddressKind, hides: Bool) {
        let stranger = world.host(at: 2)
        advertiser.list(scanner)
        scanner.befriend(advertiser, hides: hides)
        let random = BluetoothAddress(0xC000_0000_0005, kind: .randomDevice)
        scanner.send(LESetRandomAddress(address: random))
        let fallback = own == .resolvableOrPublic ? scanner.address : random
        advertiser.advertise(.legacy, peer: scanner.address)
        #expect(scanner.scan(.legacy, .active, as: own) == .success)
        world.run(.seconds(1))
        #expect(log.scanners.count == 1)
        #expect(log.scanners.allSatisfy { hides ? $0.isMade(with: scanner.identityKey) : $0 == fallback })
        log.forget()
        advertiser.stopAdvertising(.legacy)
        // Towards a device that is not on the list it has no other address to use.
        stranger.advertise(.legacy, as: .publicDevice)
        world.run(.seconds(1))
        #expect(log.scanners == [fallback])
    }

    @Test(arguments: CommandSet.allCases)
    func aScannerNeedsItsRandomAddress(commands: CommandSet) {
        #expect(scanner.scan(commands, .active, as: .resolvableOrRandom) == .invalidParameters)
        scanner.setRandomAddress(0xC000_0000_0005)
        #expect(scanner.scan(commands, .active, as: .resolvableOrRandom) == .success)
    }

    @Test("AB-G04: a scanner's address is not used past its lifetime")
    func aScannersAddressIsNotUsedPastItsTime() throws {
        advertiser.list(scanner)
        scanner.befriend(advertiser)
        scanner.send(LESetResolvablePrivateAddressTimeout(timeout: 2))
        advertiser.advertise(.legacy, peer: scanner.address)
        scanner.scan(.legacy, .active, as: .resolvableOrPublic)
        world.run(.milliseconds(7_000))
        #expect(log.scanners.count == 4)
        let read = try scanner.read(LEReadLocalResolvableAddress(peerIdentity: advertiser.address))
        #expect(read.address == log.scanners.last)
    }

    @Test func anExtendedScannerHidesToo() {
        advertiser.befriend(scanner)
        scanner.befriend(advertiser)
        advertiser.advertiseExtended(.scannable, scanResponse: [2, 9, 65]) {
            ($0.ownAddressKind, $0.peerAddress, $0.notifiesScanRequests) = (.resolvableOrPublic, scanner.address, true)
        }
        scanner.scan(.extended, .active, as: .resolvableOrPublic)
        world.run(.seconds(1))
        #expect(log.scanners.count == 1)
        #expect(!log.all.contains(scanner.address))
        #expect(scanner.heard(.extended) == [advertiser.address.identity])
        #expect(scanner.reports.contains { $0.kind.contains(.scanResponse) && $0.data == [2, 9, 65] })
        let asked = Set(advertiser.events(LEScanRequestReceived.self).map(\.scannerAddress))
        #expect(asked == [scanner.address.identity])
    }

    // MARK: The accept list

    @Test(arguments: CommandSet.allCases, [true, false])
    func aScannersAcceptListHoldsIdentities(commands: CommandSet, isResolving: Bool) {
        let stranger = world.host(at: 2)
        advertiser.list(scanner)
        stranger.list(scanner)
        scanner.list(advertiser)
        scanner.resolve(isResolving)
        scanner.send(LEAddDeviceToFilterAcceptList(address: advertiser.address))
        advertiser.advertise(commands, peer: scanner.address)
        stranger.advertise(commands, peer: scanner.address)
        scanner.scan(commands, policy: .acceptListOnly)
        world.run(.seconds(1))
        #expect(scanner.heard(commands) == (isResolving ? [advertiser.address.identity] : []))
    }

    @Test(
        "AB-L11: an advertiser's accept list holds identities",
        arguments: [LEAdvertisingFilterPolicy.scanFromAcceptList, .acceptListOnly],
        [true, false]
    )
    func anAdvertisersAcceptListHoldsIdentities(policy: LEAdvertisingFilterPolicy, isResolving: Bool) {
        let stranger = world.host(at: 2)
        advertiser.list(scanner)
        advertiser.resolve(isResolving)
        advertiser.send(LEAddDeviceToFilterAcceptList(address: scanner.address))
        advertiser.send(LESetScanResponseData(data: [2, 9, 65]))
        for host in [scanner, stranger] { host.befriend(advertiser) }
        advertiser.advertise(.legacy, peer: scanner.address, policy: policy)
        scanner.scan(.legacy, .active, as: .resolvableOrPublic)
        world.run(.seconds(1))
        #expect(scanner.gotResponse == isResolving)
        scanner.stopScanning(.legacy)
        stranger.scan(.legacy, .active, as: .resolvableOrPublic)
        world.run(.seconds(1))
        #expect(!stranger.gotResponse)
    }

    /// The side channel: an attacker that once received the private address of a bonded peer replays it to find out
    /// whether it is answered. It is, as far as a key can tell: the address is as good as on the first day, and the
    /// advertiser cannot know which device uses it. No other device learns anything, and no answer reveals an identity.
    @Test(
        "AB-L11: whether a replayed private address is answered depends on the policy alone",
        arguments: LEPrivacyMode.network.rawValue...LEPrivacyMode.device.rawValue
    )
    func aReplayedAddressIsAnsweredByPolicyOnly(mode: UInt8) throws {
        advertiser.list(scanner)
        advertiser.mode(.init(rawValue: mode), for: scanner)
        advertiser.resolve()
        advertiser.send(LEAddDeviceToFilterAcceptList(address: scanner.address))
        advertiser.send(LESetScanResponseData(data: [2, 9, 65]))
        advertiser.advertise(.legacy, peer: scanner.address, policy: .acceptListOnly)
        let old = RotatingAddress(
            scanner.identityKey,
            .init(now: .zero, timeout: .seconds(1), random: RandomSource(seed: 9))
        ).address
        let replaying = world.host(at: 2)
        func isAnswered(_ address: BluetoothAddress, _ host: TestHost) -> Bool {
            host.forget()
            host.setRandomAddress(address.value)
            host.scan(.legacy, .active, as: address.kind == .publicDevice ? .publicDevice : .randomDevice)
            world.run(.seconds(2))
            host.stopScanning(.legacy)
            return host.gotResponse
        }
        // The replay, long after the peer itself changed its address. Nothing advertises meanwhile, which keeps the
        // simulation fast.
        advertiser.stopAdvertising(.legacy)
        world.run(.seconds(1_000))
        advertiser.advertise(.legacy, peer: scanner.address, policy: .acceptListOnly)
        #expect(isAnswered(old, replaying))
        // The same address with one bit flipped.
        #expect(!isAnswered(BluetoothAddress(old.value ^ 1, kind: .randomDevice), replaying))
        // Only in device privacy mode is the peer answered under its identity.
        #expect(isAnswered(scanner.address, scanner) == (mode == LEPrivacyMode.device.rawValue))
        // Once the peer is off the accept list, neither the peer nor its replays get an answer.
        advertiser.stopAdvertising(.legacy)
        advertiser.send(LEClearFilterAcceptList())
        advertiser.advertise(.legacy, peer: scanner.address, policy: .acceptListOnly)
        #expect(!isAnswered(old, replaying))
        #expect(!log.advertisers.contains(advertiser.address))
    }

    // MARK: Directed advertisements

    @Test(arguments: CommandSet.allCases)
    func aPrivateTargetIsResolved(commands: CommandSet) throws {
        advertiser.list(scanner)
        scanner.befriend(advertiser)
        advertiser.advertise(commands, peer: scanner.address, isDirected: true)
        scanner.scan(commands)
        world.run(.seconds(1))
        #expect(log.targets.count == 1)
        #expect(!log.all.contains(scanner.address))
        #expect(scanner.heard(commands) == [advertiser.address.identity])
        if commands == .extended {
            #expect(Set(scanner.reports.map(\.directAddress)) == [scanner.address.identity])
        }
    }

    @Test(
        arguments: CommandSet.allCases,
        [
            LEScanFilterPolicy.unfiltered, .acceptListOnly, .unfilteredWithUnresolvedDirected,
            .acceptListAndUnresolvedDirected,
        ]
    )
    func aTargetThatIsNotResolvedIsForTheHost(commands: CommandSet, policy: LEScanFilterPolicy) throws {
        // The scanner knows the advertiser, but not that it is itself the target.
        advertiser.list(scanner)
        scanner.befriend(advertiser, hides: false)
        if policy == .acceptListAndUnresolvedDirected {
            scanner.send(LEAddDeviceToFilterAcceptList(address: advertiser.address))
        }
        advertiser.advertise(commands, peer: scanner.address, isDirected: true)
        #expect(scanner.scan(commands, policy: policy, filter: .enabled) == .success)
        world.run(.seconds(1))
        let target = try #require(log.targets.first)
        let isTold = policy.rawValue & 2 == 2
        let direct = scanner.events(LEDirectedAdvertisingReport.self).flatMap(\.reports)
        #expect(direct.count == (isTold && commands == .legacy ? 1 : 0))
        #expect(direct.allSatisfy { $0.address == advertiser.address.identity && $0.directAddress == target })
        #expect(scanner.events(LEAdvertisingReport.self).isEmpty)
        #expect(scanner.reports.count == (isTold && commands == .extended ? 1 : 0))
        let kind = BluetoothAddress.Kind(rawValue: 0xFE)
        #expect(scanner.reports.allSatisfy { $0.directAddress == BluetoothAddress(target.value, kind: kind) })
    }

    @Test(arguments: CommandSet.allCases)
    func otherTargetsAreNotReported(commands: CommandSet) {
        let other = world.host(at: 2)
        advertiser.advertise(commands, as: .publicDevice, peer: other.address, isDirected: true)
        scanner.scan(commands, policy: .unfilteredWithUnresolvedDirected)
        world.run(.seconds(1))
        #expect(scanner.heard(commands).isEmpty)
        #expect(scanner.events(LEDirectedAdvertisingReport.self).isEmpty)
    }

    @Test(arguments: CommandSet.allCases)
    func theExtendedPoliciesComeWithAFeature(commands: CommandSet) {
        let older = world.host(at: 2) { $0.features.remove(.extendedScannerFilterPolicies) }
        #expect(older.scan(commands, policy: .unfilteredWithUnresolvedDirected) == .unsupportedFeatureOrParameter)
        #expect(older.scan(commands, policy: .init(rawValue: 4)) == .invalidParameters)
    }

    /// A directed advertisement that may be for another device is not answered.
    @Test(arguments: [true, false])
    func onlyTheTargetAsks(hides: Bool) {
        advertiser.befriend(scanner)
        scanner.befriend(advertiser, hides: hides)
        advertiser.advertiseExtended([.scannable, .directed], scanResponse: [2, 9, 65]) {
            ($0.ownAddressKind, $0.peerAddress) = (.resolvableOrPublic, scanner.address)
        }
        scanner.scan(.extended, .active, as: .resolvableOrPublic, policy: .unfilteredWithUnresolvedDirected)
        world.run(.seconds(1))
        #expect(log.scanners.isEmpty == !hides)
        #expect(scanner.reports.contains { $0.kind.contains(.scanResponse) } == hides)
        #expect(!scanner.reports.isEmpty)
    }

    /// Nor is one addressed to the identity of a private scanner.
    @Test(arguments: [true, false])
    func networkPrivacySendsNoScanRequestAsIdentity(hides: Bool) {
        advertiser.list(scanner, hasKey: false)
        scanner.befriend(advertiser, hides: hides)
        advertiser.advertiseExtended([.scannable, .directed], scanResponse: [2, 9, 65]) {
            ($0.ownAddressKind, $0.peerAddress) = (.resolvableOrPublic, scanner.address)
        }
        scanner.scan(.extended, .active, as: .resolvableOrPublic)
        world.run(.seconds(1))
        #expect(log.targets == [scanner.address])
        #expect(log.scanners == (hides ? [] : [scanner.address]))
        #expect(scanner.heard(.extended) == [advertiser.address.identity])
    }

    // MARK: Cost of resolving

    /// A crowd of advertisers with private addresses, only one of which is known.
    @Test func aCrowdIsResolvedOnceForEachAddress() {
        advertiser.list(scanner)
        scanner.list(advertiser)
        for number in 0..<UInt64(31) {
            let peer = BluetoothAddress(0x1000 + number, kind: .publicDevice)
            scanner.list(peer, key: Key128(Block128(high: 1, low: number + 1)), localKey: scanner.identityKey)
        }
        scanner.resolve()
        let crowd = (0..<UInt64(20)).map { number in
            let host = world.host(at: 2)
            host.setRandomAddress(0x4000_0000_0000 + number << 24)
            host.advertise(.legacy, as: .randomDevice)
            return host
        }
        advertiser.advertise(.legacy, peer: scanner.address)
        scanner.scan(.legacy)
        world.run(.seconds(2))
        let heard = scanner.heard(.legacy)
        #expect(heard.count == crowd.count + 1)
        #expect(heard.contains(advertiser.address.identity))
        #expect(scanner.events(LEAdvertisingReport.self).count > 1_000)
        // The known one is the first on the list.
        #expect(scanner.controller.privacy.list.attempts == crowd.count * 32 + 1)
    }
}

extension TestHost {
    /// Whether a scan response was reported.
    fileprivate var gotResponse: Bool {
        events(LEAdvertisingReport.self).flatMap(\.reports).contains { $0.kind == .scanResponse }
    }
}
