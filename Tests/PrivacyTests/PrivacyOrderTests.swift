import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP
import StackStandIns
import Testing

@testable import Privacy

/// What a controller is told about addresses, word for word and in its order, whatever it answers and whenever it goes.
@Suite struct PrivacyOrderTests {
    private let peer = ScriptedPeer()
    private static let interval = Duration.seconds(100)
    private static let identity = LocalIdentity(
        address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice),
        key: Key128(Block128(high: 5, low: 6))
    )
    private static let bonds = (1...3).map { number in
        PrivatePeer(
            identity: BluetoothAddress(0b11 << 46 | number, kind: .randomDevice),
            key: number == 2 ? nil : Key128(Block128(high: number, low: 8)),
            lastUse: 10 - number
        )
    }

    init() {
        peer.up()
    }

    private func privacy(isPrivate: Bool = true) -> DevicePrivacy {
        DevicePrivacy(
            host: peer.host,
            loop: peer.loop,
            random: RandomSource(seed: 3),
            identity: isPrivate ? Self.identity : nil,
            interval: Self.interval,
            happenings: peer.happenings
        )
    }

    @discardableResult
    private func begin(
        _ privacy: DevicePrivacy,
        listSize: Int = 0,
        without missing: [any HCICommand.Type] = [],
        isLegacy: Bool = false
    ) -> OwnAddress {
        var information = ControllerInformation()
        information.leFeatures = isLegacy ? [.privacy] : [.privacy, .extendedAdvertising]
        let commands = HCICommandRegistry.all.filter { command in !missing.contains { $0 == command } }
        information.supportedCommands = SupportedCommands(commands)
        information.resolvingListSize = listSize
        return privacy.begin(OwnAddress(Self.identity.address), on: information)
    }

    /// What the controller was told since this was asked last.
    private func told() -> [String] {
        defer { peer.commands = [] }
        return peer.commands.map(Self.text)
    }

    private static func text(_ command: any HCICommand) -> String {
        func name(_ address: BluetoothAddress) -> String { "\(address.value & 0xFF)" }
        func isZero(_ key: PacketBuffer) -> String { key.bytes.allSatisfy { $0 == 0 } ? "-" : "key" }
        return switch command {
        case let command as LESetRandomAddress: "\(command.address.randomKind.map { "\($0)" } ?? "public")"
        case let command as LEAddDeviceToResolvingList:
            "add \(name(command.peerIdentity)) \(isZero(command.peerIRK)) \(isZero(command.localIRK))"
        case let command as LERemoveDeviceFromResolvingList: "remove \(name(command.peerIdentity))"
        case let command as LESetPrivacyMode: "mode \(name(command.peerIdentity)) \(command.mode == .device)"
        case let command as LESetResolvablePrivateAddressTimeout: "timeout \(command.timeout)"
        case let command as LESetResolvablePrivateAddressTimeoutV2:
            "timeout \(command.timeoutMin) to \(command.timeoutMax)"
        case let command as LESetAddressResolutionEnable: "enable \(command.isEnabled)"
        default: type(of: command).name
        }
    }

    // MARK: The resolving list

    @Test(arguments: [false, true])
    func theListIsToldInItsOrder(isPrivate: Bool) {
        let privacy = privacy(isPrivate: isPrivate)
        let own = isPrivate ? "key" : "-"
        let address = isPrivate ? ["resolvable"] : []
        privacy.peers = Self.bonds
        #expect(told().isEmpty)
        begin(privacy, listSize: 2)
        peer.run()
        #expect(told() == address + ["timeout 53 to 100", "add 1 key \(own)", "add 3 key \(own)", "enable true"])
        privacy.peers = Array(Self.bonds.dropFirst())
        peer.run()
        #expect(told() == ["remove 1", "add 2 - \(own)", "mode 2 true"])
        // The same again is nothing new, nor is one that comes behind those that there is room for.
        privacy.peers = Array(Self.bonds.dropFirst())
        privacy.peers.append(PrivatePeer(identity: BluetoothAddress(9, kind: .publicDevice), key: nil))
        peer.run()
        #expect(told().isEmpty)
        privacy.peers = []
        peer.run()
        #expect(told() == ["remove 2", "remove 3"])
        privacy.reset()
        // One time for all addresses where the controller draws none, and its own where it cannot be told.
        let drawn = LESetResolvablePrivateAddressTimeoutV2.self
        begin(privacy, listSize: 2, without: [LESetPrivacyMode.self, drawn])
        privacy.peers = [Self.bonds[1]]
        peer.run()
        #expect(told() == address + ["timeout 100", "add 2 - \(own)", "enable true"])
        privacy.reset()
        let fixed = LESetResolvablePrivateAddressTimeout.self
        begin(privacy, listSize: 2, without: [LESetPrivacyMode.self, drawn, fixed])
        privacy.peers = [Self.bonds[1]]
        peer.run()
        #expect(told() == address + ["add 2 - \(own)", "enable true"])
    }

    /// Without one of its commands, or room, there is no list.
    @Test func aControllerThatDoesNotHaveAllCommandsHasNoList() {
        let privacy = privacy()
        privacy.peers = Self.bonds
        let needed: [any HCICommand.Type] = [
            LEAddDeviceToResolvingList.self, LERemoveDeviceFromResolvingList.self, LESetAddressResolutionEnable.self,
        ]
        for missing in needed {
            begin(privacy, listSize: 2, without: [missing])
            peer.run()
            #expect(told() == ["resolvable"] && !privacy.resolvesAddresses)
            privacy.reset()
        }
        begin(privacy, listSize: 0)
        peer.run()
        #expect(told() == ["resolvable"] && !privacy.resolvesAddresses)
        privacy.reset()
        begin(privacy, listSize: 1)
        peer.run()
        #expect(told().count == 4 && privacy.resolvesAddresses && privacy.list.isInUse)
    }

    /// A peer that the controller refuses is left to the host; it is not asked again until something has changed.
    @Test func whatTheControllerRefusesIsNotAskedForAgain() {
        let privacy = privacy()
        privacy.peers = Self.bonds
        peer.refuses = [LEAddDeviceToResolvingList.opcode: .memoryCapacityExceeded]
        begin(privacy, listSize: 1)
        peer.run()
        #expect(told() == ["resolvable", "timeout 53 to 100", "add 1 key key", "enable true"])
        #expect(!privacy.list.isInUse && privacy.isResolvedByHost(Self.bonds[0].identity))
        privacy.peers = Self.bonds
        peer.run()
        #expect(told().isEmpty)
        peer.refuses = [:]
        privacy.peers[0].lastUse = 11
        peer.run()
        #expect(told() == ["add 1 key key"] && privacy.list.isInUse)
        // One that does not resolve addresses has no list any more.
        privacy.reset()
        peer.refuses = [LESetAddressResolutionEnable.opcode: .commandDisallowed]
        begin(privacy, listSize: 1)
        peer.run()
        #expect(told().last == "enable true" && !privacy.resolvesAddresses && privacy.quiet.state == .running)
        privacy.peers = []
        peer.run()
        #expect(told().isEmpty)
    }

    /// What was on its way when the controller went is about a list that nobody has any more.
    @Test(arguments: 1...5)
    func whatWasOnItsWayBeforeAResetCountsForNothing(sent: Int) {
        let privacy = privacy()
        privacy.peers = Self.bonds
        begin(privacy, listSize: 2)
        peer.loop.run(until: peer.loop.now + .seconds(1)) { peer.commands.count == sent }
        #expect(told().count == sent)
        privacy.reset()
        #expect(!privacy.list.isInUse && privacy.quiet.state == .running)
        begin(privacy, listSize: 2)
        peer.run()
        #expect(told() == ["resolvable", "timeout 53 to 100", "add 1 key key", "add 3 key key", "enable true"])
        #expect(privacy.quiet.state == .running && privacy.list.entries.count == 2 && !privacy.list.isBehind)
        // A refusal of before is nobody's either.
        peer.refuses = [LEAddDeviceToResolvingList.opcode: .memoryCapacityExceeded]
        privacy.peers = [Self.bonds[1]]
        peer.loop.run(until: peer.loop.now + .seconds(1)) { peer.commands.last is LEAddDeviceToResolvingList }
        privacy.reset()
        peer.refuses = [:]
        begin(privacy, listSize: 2)
        peer.run()
        #expect(privacy.list.entries.count == 1)
    }

    // MARK: The own address

    /// Somebody may ask for another kind while one is on its way: that is set next. What nobody asks for any more is not.
    @Test func anAddressOfTheKindThatIsNeededComesAtOnce() {
        let privacy = privacy()
        begin(privacy)
        privacy.declare(.nonResolvable, of: .scanner)
        peer.run()
        #expect(told() == ["resolvable", "nonResolvable"])
        #expect(privacy.sharedAddress?.address.randomKind == .nonResolvable)
        privacy.declare(.recognisable, of: .connector)
        privacy.declare(.none, of: .connector)
        peer.run()
        #expect(told() == ["resolvable", "nonResolvable"])
        privacy.declare(.recognisable, of: .connector)
        peer.run()
        #expect(told() == ["resolvable"])
        // Nobody asks for anything of a new controller.
        privacy.declare(.none, of: .connector)
        peer.run()
        _ = told()
        privacy.reset()
        begin(privacy)
        peer.run()
        #expect(told() == ["resolvable"] && privacy.quiet.state == .running)
    }

    /// Each address has its own time, which begins when the controller knows it.
    @Test func anAddressThatWasReplacedEndsNothing() {
        let privacy = privacy()
        begin(privacy)
        peer.run(.seconds(50))
        privacy.declare(.nonResolvable, of: .scanner)
        peer.run()
        #expect(told() == ["resolvable", "nonResolvable"])
        peer.run(.seconds(99))
        #expect(told().isEmpty)
        peer.run(.seconds(1))
        #expect(told() == ["nonResolvable"])
        peer.run(.seconds(99))
        #expect(told().isEmpty)
        peer.run(.seconds(1))
        #expect(told() == ["nonResolvable"])
    }

    /// An event that comes while another one is dealt with waits.
    @Test func whatComesInTheMiddleOfSomethingWaits() {
        let privacy = privacy()
        var states: [QuietMachine.State] = []
        peer.onCommand = { _ in
            privacy.handle(.reset)
            states.append(privacy.quiet.state)
        }
        begin(privacy)
        #expect(states == [.working([.address])] && privacy.quiet.state == .running && privacy.events.isEmpty)
        peer.onCommand = { _ in }
        peer.run()
        #expect(told() == ["resolvable"])
    }

    // MARK: Silence

    /// A user of the radio that says nothing: the controller is tried after two seconds, and not before.
    @Test(arguments: QuietMachine.User.allCases)
    func whoDoesNotFallSilentIsWaitedForTwoSeconds(user: QuietMachine.User) {
        let privacy = privacy()
        // They know nothing of it, and so do not answer.
        let deaf = DeafUser()
        switch user {
        case .advertiser: privacy.advertiser = deaf
        case .scanner: privacy.scanner = deaf
        case .connector: privacy.connector = deaf
        }
        begin(privacy, isLegacy: true)
        #expect(privacy.quiet.state == .pausing(waiting: [user]))
        peer.run(.milliseconds(1_999))
        #expect(told().isEmpty)
        peer.run(.milliseconds(1))
        #expect(told() == ["resolvable"] && privacy.quiet.state == .running)
        // It does at last, and is waited for as long the next time.
        privacy.declare(.nonResolvable, of: .scanner)
        peer.run(.milliseconds(1_500))
        privacy.handle(.quiet(user))
        peer.run()
        #expect(told() == ["nonResolvable"])
        privacy.declare(.none, of: .scanner)
        peer.run(.milliseconds(1_980))
        #expect(told().isEmpty && privacy.quiet.state == .pausing(waiting: [user]))
        // Nothing is waited for once the controller is gone.
        privacy.reset()
        #expect(privacy.quiet.state == .running)
        peer.run(.milliseconds(100))
        begin(privacy, isLegacy: true)
        peer.run(.milliseconds(1_950))
        #expect(told().isEmpty)
        peer.run(.milliseconds(60))
        #expect(told() == ["resolvable"])
    }

    // MARK: Links

    private func connection(
        _ role: LERole,
        _ address: BluetoothAddress,
        own: BluetoothAddress? = nil,
        handle: UInt16 = 0x40
    ) throws -> HCIConnection {
        var made: HCIConnection?
        peer.host.onConnection = { made = $0 }
        var event = SecurityBench.connection(role, address, ConnectionHandle(rawValue: handle))
        if let own { event.localResolvableAddress = own }
        peer.inject(event)
        var end = DisconnectionComplete()
        (end.status, end.handle) = (.success, event.handle)
        peer.inject(end)
        return try #require(made)
    }

    /// Pairing computes with the address that this device had for the link: the controller's, that of the set, or the shared one.
    @Test func whichAddressALinkHas() throws {
        let privacy = privacy()
        let stranger = BluetoothAddress(0b11 << 46 | 0x99, kind: .randomDevice)
        let (made, ofSet) = (
            BluetoothAddress(0b01 << 46 | 7, kind: .randomDevice), BluetoothAddress(0b01 << 46 | 8, kind: .randomDevice)
        )
        #expect(privacy.connected(try connection(.central, stranger)) == nil)
        begin(privacy)
        peer.run()
        let shared = try #require(privacy.sharedAddress).address
        for own in [nil, made] {
            for role in [LERole.central, .peripheral] {
                let link = try connection(role, stranger, own: own)
                #expect(privacy.ownAddress(of: link) == nil)
                #expect(privacy.connected(link) == own ?? shared && privacy.ownAddress(of: link) == own ?? shared)
                privacy.connected(ConnectionHandle(rawValue: 0x41), toSetAt: ofSet)
                #expect(privacy.ownAddress(of: link) == own ?? shared)
                privacy.connected(link.handle, toSetAt: ofSet)
                #expect(privacy.ownAddress(of: link) == own ?? ofSet)
                // Another link with the same number is another one.
                #expect(privacy.ownAddress(of: try connection(role, stranger)) == nil)
                #expect(privacy.ownAddress(of: link) == own ?? ofSet)
            }
        }
        let link = try connection(.central, stranger)
        privacy.connected(link)
        privacy.reset()
        #expect(privacy.ownAddress(of: link) == nil)
    }

    /// By which address each peer is called (Core Vol 3 Part C 9.3.3, 10.7.1.2).
    @Test(arguments: [false, true], [false, true])
    func byWhichAddressAPeerIsCalled(isPrivate: Bool, hasList: Bool) throws {
        let privacy = privacy(isPrivate: isPrivate)
        privacy.peers = Self.bonds
        begin(privacy, listSize: hasList ? 1 : 0)
        peer.run()
        let (listed, keyless, unlisted) = (Self.bonds[0], Self.bonds[1], Self.bonds[2])
        let stranger = BluetoothAddress(0b01 << 46 | 0x99, kind: .randomDevice)
        #expect(privacy.target(stranger) == (stranger, false))
        for bond in Self.bonds { #expect(privacy.target(bond.identity) == (bond.identity, false)) }
        for bond in Self.bonds { privacy.setResolvesAddresses(true, of: bond.identity) }
        #expect(privacy.target(keyless.identity) == (keyless.identity, false))
        for bond in [listed, unlisted] {
            let key = try #require(bond.key)
            let (address, isMade) = privacy.target(bond.identity)
            guard !hasList || bond == unlisted else {
                #expect((address, isMade) == (bond.identity, isPrivate))
                continue
            }
            #expect(address.isResolved(by: key) && !isMade)
            #expect(privacy.target(bond.identity).address != address)
            // The one that it had last, by whichever of its addresses it is asked for.
            let last = BluetoothAddress.resolvablePrivate(key, RandomSource(seed: 9))
            privacy.connected(try connection(.central, last))
            #expect(privacy.target(bond.identity) == (last, false) && privacy.target(address) == (last, false))
            // Its identity address is none that it hides behind.
            privacy.connected(try connection(.central, bond.identity))
            #expect(privacy.target(bond.identity) == (last, false))
        }
    }
}

/// Uses the radio, and does not hear that it is to be silent.
private final class DeafUser: AdvertisingUser, ConnectingUser {
    let connectableAddress: BluetoothAddress? = nil
    func pause() {}
    func resume() {}
    func reviewRoutes() {}
}
