import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP
import StackStandIns
import Testing

@testable import Security

/// The address commands that a controller receives, in exact order, whatever it answers and whenever it goes away.
@Suite struct PrivacyOrderTests {
    private let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
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
        bench.up()
    }

    private func privacy(isPrivate: Bool = true) -> DevicePrivacy {
        DevicePrivacy(
            host: bench.host,
            loop: bench.loop,
            random: RandomSource(seed: 3),
            identity: isPrivate ? Self.identity : nil,
            interval: Self.interval,
            stackEvents: bench.stackEvents
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
        information.apply(
            LEReadLocalSupportedFeatures.Response(features: isLegacy ? [.privacy] : [.privacy, .extendedAdvertising])
        )
        let commands = HCICommandRegistry.all.filter { command in !missing.contains { $0 == command } }
        information.apply(ReadLocalSupportedCommands.Response(commands: SupportedCommands(commands)))
        information.apply(LEReadResolvingListSize.Response(UInt8(listSize)))
        return privacy.begin(OwnAddress(Self.identity.address), on: information)
    }

    /// The commands that the controller has received since the last call.
    private func told() -> [String] {
        defer { bench.transport.forgetCommands() }
        return bench.transport.commands.map(Self.text)
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
        bench.run()
        #expect(told() == address + ["timeout 53 to 100", "add 1 key \(own)", "add 3 key \(own)", "enable true"])
        privacy.peers = Array(Self.bonds.dropFirst())
        bench.run()
        #expect(told() == ["remove 1", "add 2 - \(own)", "mode 2 true"])
        // Neither the same peers again nor one beyond the capacity is a change.
        privacy.peers = Array(Self.bonds.dropFirst())
        privacy.peers.append(PrivatePeer(identity: BluetoothAddress(9, kind: .publicDevice), key: nil))
        bench.run()
        #expect(told().isEmpty)
        privacy.peers = []
        bench.run()
        #expect(told() == ["remove 2", "remove 3"])
        privacy.reset()
        // One timeout for all addresses if the controller cannot draw random ones, and its default if the timeout
        // cannot be set.
        let drawn = LESetResolvablePrivateAddressTimeoutV2.self
        begin(privacy, listSize: 2, without: [LESetPrivacyMode.self, drawn])
        privacy.peers = [Self.bonds[1]]
        bench.run()
        #expect(told() == address + ["timeout 100", "add 2 - \(own)", "enable true"])
        privacy.reset()
        let fixed = LESetResolvablePrivateAddressTimeout.self
        begin(privacy, listSize: 2, without: [LESetPrivacyMode.self, drawn, fixed])
        privacy.peers = [Self.bonds[1]]
        bench.run()
        #expect(told() == address + ["add 2 - \(own)", "enable true"])
    }

    /// Without one of its commands, or without space, there is no list.
    @Test func aControllerThatDoesNotHaveAllCommandsHasNoList() {
        let privacy = privacy()
        privacy.peers = Self.bonds
        let needed: [any HCICommand.Type] = [
            LEAddDeviceToResolvingList.self, LERemoveDeviceFromResolvingList.self, LESetAddressResolutionEnable.self,
        ]
        for missing in needed {
            begin(privacy, listSize: 2, without: [missing])
            bench.run()
            #expect(told() == ["resolvable"])
            #expect(privacy.list.capacity == 0)
            privacy.reset()
        }
        begin(privacy, listSize: 0)
        bench.run()
        #expect(told() == ["resolvable"])
        #expect(privacy.list.capacity == 0)
        privacy.reset()
        begin(privacy, listSize: 1)
        bench.run()
        #expect(told().count == 4)
        #expect(privacy.list.capacity > 0)
        #expect(privacy.list.isInUse)
    }

    /// A peer that the controller refuses is left to the host, and not added again until something has changed.
    @Test func refusedPeersAreNotAddedAgain() {
        let privacy = privacy()
        privacy.peers = Self.bonds
        bench.controller.refuses = [LEAddDeviceToResolvingList.opcode: .memoryCapacityExceeded]
        begin(privacy, listSize: 1)
        bench.run()
        #expect(told() == ["resolvable", "timeout 53 to 100", "add 1 key key", "enable true"])
        #expect(!privacy.list.isInUse && privacy.isResolvedByHost(Self.bonds[0].identity))
        privacy.peers = Self.bonds
        bench.run()
        #expect(told().isEmpty)
        bench.controller.refuses = [:]
        privacy.peers[0].lastUse = 11
        bench.run()
        #expect(told() == ["add 1 key key"])
        #expect(privacy.list.isInUse)
        // A controller that does not resolve addresses has no list any more.
        privacy.reset()
        bench.controller.refuses = [LESetAddressResolutionEnable.opcode: .commandDisallowed]
        begin(privacy, listSize: 1)
        bench.run()
        #expect(told().last == "enable true")
        #expect(privacy.list.capacity == 0)
        #expect(privacy.quiet.state == .running)
        privacy.peers = []
        bench.run()
        #expect(told().isEmpty)
    }

    /// Commands in flight when the controller went away concern a list that no longer exists.
    @Test(arguments: 1...5)
    func commandsInFlightAtAResetAreIgnored(sent: Int) {
        let privacy = privacy()
        privacy.peers = Self.bonds
        begin(privacy, listSize: 2)
        bench.loop.run(until: bench.loop.now + .seconds(1)) { bench.transport.commands.count == sent }
        #expect(told().count == sent)
        privacy.reset()
        #expect(!privacy.list.isInUse)
        #expect(privacy.quiet.state == .running)
        begin(privacy, listSize: 2)
        bench.run()
        #expect(told() == ["resolvable", "timeout 53 to 100", "add 1 key key", "add 3 key key", "enable true"])
        #expect(privacy.quiet.state == .running)
        #expect(privacy.list.entries.count == 2)
        #expect(!privacy.list.isBehind)
        // A refusal from before does not count either.
        bench.controller.refuses = [LEAddDeviceToResolvingList.opcode: .memoryCapacityExceeded]
        privacy.peers = [Self.bonds[1]]
        bench.loop.run(until: bench.loop.now + .seconds(1)) {
            bench.transport.commands.last is LEAddDeviceToResolvingList
        }
        privacy.reset()
        bench.controller.refuses = [:]
        begin(privacy, listSize: 2)
        bench.run()
        #expect(privacy.list.entries.count == 1)
    }

    // MARK: The local address

    /// Each address has a lifetime of its own, which begins once the controller has it.
    @Test func anAddressThatWasReplacedEndsNothing() {
        let privacy = privacy()
        begin(privacy)
        bench.run(.seconds(50))
        privacy.handle(.need(.address))
        bench.run()
        #expect(told() == ["resolvable", "resolvable"])
        bench.run(.seconds(99))
        #expect(told().isEmpty)
        bench.run(.seconds(1))
        #expect(told() == ["resolvable"])
        bench.run(.seconds(99))
        #expect(told().isEmpty)
        bench.run(.seconds(1))
        #expect(told() == ["resolvable"])
    }

    /// An event that arrives while another one is being handled waits.
    @Test func reentrantEventsWait() {
        let privacy = privacy()
        var states: [QuietMachine.State] = []
        bench.controller.onCommand = { _ in
            privacy.handle(.reset)
            states.append(privacy.quiet.state)
        }
        begin(privacy)
        #expect(states == [.working([.address])])
        #expect(privacy.quiet.state == .running)
        #expect(privacy.waitingEvents == 0)
        bench.controller.onCommand = { _ in }
        bench.run()
        #expect(told() == ["resolvable"])
    }

    // MARK: Silence

    /// A user of the radio that does not answer: the controller gets its command after two seconds, and not before.
    @Test(arguments: QuietMachine.User.allCases)
    func unresponsiveUsersDelayTwoSeconds(user: QuietMachine.User) {
        let privacy = privacy()
        // The user ignores the request to pause, and so does not answer.
        let deaf = DeafUser()
        switch user {
        case .advertiser: privacy.advertiser = deaf
        case .scanner: privacy.scanner = deaf
        case .connector: privacy.connector = deaf
        }
        begin(privacy, isLegacy: true)
        #expect(privacy.quiet.state == .pausing(waiting: [user]))
        bench.run(.milliseconds(1_999))
        #expect(told().isEmpty)
        bench.run(.milliseconds(1))
        #expect(told() == ["resolvable"])
        #expect(privacy.quiet.state == .running)
        // It answers at last, and the next time it gets two seconds again.
        privacy.handle(.need(.address))
        bench.run(.milliseconds(1_500))
        privacy.handle(.quiet(user))
        bench.run()
        #expect(told() == ["resolvable"])
        privacy.handle(.need(.address))
        bench.run(.milliseconds(1_980))
        #expect(told().isEmpty)
        #expect(privacy.quiet.state == .pausing(waiting: [user]))
        // Nothing is waited for once the controller is gone.
        privacy.reset()
        #expect(privacy.quiet.state == .running)
        bench.run(.milliseconds(100))
        begin(privacy, isLegacy: true)
        bench.run(.milliseconds(1_950))
        #expect(told().isEmpty)
        bench.run(.milliseconds(60))
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
        bench.host.onConnection = { made = $0 }
        var event = SecurityBench.connection(role, address, ConnectionHandle(rawValue: handle))
        if let own { event.localResolvableAddress = own }
        bench.inject(event)
        var end = DisconnectionComplete()
        (end.status, end.handle) = (.success, event.handle)
        bench.inject(end)
        return try #require(made)
    }

    /// Pairing computes with the address that this device had for the link: the controller's, that of the set, or the
    /// shared one.
    @Test func whichAddressALinkHas() throws {
        let privacy = privacy()
        let stranger = BluetoothAddress(0b11 << 46 | 0x99, kind: .randomDevice)
        let (made, ofSet) = (
            BluetoothAddress(0b01 << 46 | 7, kind: .randomDevice), BluetoothAddress(0b01 << 46 | 8, kind: .randomDevice)
        )
        #expect(privacy.connected(try connection(.central, stranger)) == nil)
        begin(privacy)
        bench.run()
        let shared = try #require(privacy.sharedAddress).address
        for own in [nil, made] {
            for role in [LERole.central, .peripheral] {
                let link = try connection(role, stranger, own: own)
                #expect(privacy.ownAddress(of: link) == nil)
                #expect(privacy.connected(link) == own ?? shared)
                #expect(privacy.ownAddress(of: link) == own ?? shared)
                privacy.connected(ConnectionHandle(rawValue: 0x41), toSetAt: ofSet)
                #expect(privacy.ownAddress(of: link) == own ?? shared)
                privacy.connected(link.handle, toSetAt: ofSet)
                #expect(privacy.ownAddress(of: link) == own ?? ofSet)
                // Another link with the same handle is a different link.
                #expect(privacy.ownAddress(of: try connection(role, stranger)) == nil)
                #expect(privacy.ownAddress(of: link) == own ?? ofSet)
            }
        }
        let link = try connection(.central, stranger)
        privacy.connected(link)
        privacy.reset()
        #expect(privacy.ownAddress(of: link) == nil)
    }
}

/// A user of the radio that ignores requests to pause.
private final class DeafUser: AdvertisingUser, ConnectingUser {
    let connectableAddress: BluetoothAddress? = nil
    func pause() {}
    func resume() {}
    func reviewRoutes() {}
}
