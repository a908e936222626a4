import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP
import Testing

@testable import Security

/// A device's addresses on a controller that is slow, refuses, and goes away.
@Suite struct PrivacyLifeTests {
    private let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
    private static let interval = Duration.seconds(100)
    private static let identity = LocalIdentity(
        address: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice),
        key: Key128(Block128(high: 5, low: 6))
    )
    private static let fixed = OwnAddress(identity.address)
    private static let bonded = PrivatePeer(
        identity: BluetoothAddress(0b11 << 46 | 1, kind: .randomDevice),
        key: Key128(Block128(high: 7, low: 8))
    )

    init() {
        bench.up()
    }

    private func privacy(isPrivate: Bool = true, interval: Duration = PrivacyLifeTests.interval) -> DevicePrivacy {
        DevicePrivacy(
            host: bench.host,
            loop: bench.loop,
            random: RandomSource(seed: 3),
            identity: isPrivate ? Self.identity : nil,
            interval: interval,
            stackEvents: bench.stackEvents
        )
    }

    /// A controller whose list has space for this many peers.
    private func controller(listSize: Int = 0) -> ControllerInformation {
        var information = ControllerInformation()
        information.apply(
            LEReadLocalSupportedFeatures.Response(
                features: listSize > 0 ? [.privacy, .extendedAdvertising] : [.extendedAdvertising]
            )
        )
        information.apply(ReadLocalSupportedCommands.Response(commands: SupportedCommands(HCICommandRegistry.all)))
        information.apply(LEReadResolvingListSize.Response(UInt8(listSize)))
        return information
    }

    /// The addresses that the controller was given since the last call.
    private func addresses() -> [BluetoothAddress] {
        defer { bench.transport.forgetCommands() }
        return bench.transport.commands.compactMap { ($0 as? LESetRandomAddress)?.address }
    }

    /// Runs briefly, and returns each distinct value of `read` after a task.
    private func watch<Value: Equatable>(_ read: () -> Value) -> [Value] {
        var values: [Value] = []
        bench.loop.run(until: bench.loop.now + .milliseconds(10)) {
            let value = read()
            if values.last != value { values.append(value) }
            return false
        }
        return values
    }

    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3_600, 3_600), (3_601, 3_600)])
    func theIntervalIsOneThatAControllerTakes(asked: Int, kept: Int) {
        #expect(privacy(interval: .seconds(asked)).interval == .seconds(kept))
    }

    /// An answer from before a reset concerns an address that is no longer in use.
    @Test func anAnswerOfBeforeAResetCountsForNothing() {
        let privacy = privacy()
        let first = privacy.begin(Self.fixed, on: controller())
        privacy.reset()
        #expect(privacy.sharedAddress == nil)
        let second = privacy.begin(Self.fixed, on: controller())
        #expect(first.address != second.address)
        #expect(watch { privacy.sharedAddress?.address } == [nil, second.address])
        #expect(addresses() == [first.address, second.address])
        #expect(privacy.quiet.state == .running)
    }

    /// The same for a refusal.
    @Test func aRefusalOfBeforeAResetCountsForNothing() {
        let privacy = privacy()
        var failures = 0
        privacy.onFailed = { _ in failures += 1 }
        bench.controller.refuses[LESetRandomAddress.opcode] = .controllerBusy
        _ = privacy.begin(Self.fixed, on: controller())
        privacy.reset()
        bench.run()
        #expect(failures == 0)
    }

    /// A restart in reaction to the refusal is not affected by what it ended.
    @Test func aRefusalThatLedToANewBeginningEndsNothing() {
        let privacy = privacy()
        bench.controller.refuses[LESetRandomAddress.opcode] = .controllerBusy
        var second: OwnAddress?
        privacy.onFailed = { error in
            #expect(!error.isOfHost)
            bench.controller.refuses = [:]
            privacy.reset()
            second = privacy.begin(Self.fixed, on: controller())
        }
        _ = privacy.begin(Self.fixed, on: controller())
        bench.loop.run(until: bench.loop.now + .seconds(1)) { second != nil }
        #expect(privacy.quiet.state == .working([.address]))
        bench.run()
        #expect(privacy.sharedAddress?.address == second?.address)
        #expect(privacy.quiet.state == .running)
    }

    /// A controller that goes away has not refused anything.
    @Test func aControllerThatGoesRefusesNothing() {
        let privacy = privacy()
        var failures = 0
        privacy.onFailed = { _ in failures += 1 }
        bench.controller.refuses[LESetRandomAddress.opcode] = .controllerBusy
        _ = privacy.begin(Self.fixed, on: controller())
        bench.transport.onClose?(.closedByPeer)
        bench.run(.seconds(5))
        #expect(failures == 0)
        #expect(privacy.sharedAddress == nil)
    }

    /// Without the very first address there is nothing to use when it is refused. A later one is retried, and the old
    /// one stays until then.
    @Test func aControllerThatWouldNotTakeAnAddressIsAskedAgain() {
        let privacy = privacy()
        var failures = 0
        privacy.onFailed = { _ in failures += 1 }
        let first = privacy.begin(Self.fixed, on: controller()).address
        bench.run(.zero)
        #expect(addresses() == [first])
        bench.controller.refuses[LESetRandomAddress.opcode] = .commandDisallowed
        bench.run(Self.interval + .milliseconds(900))
        #expect(addresses().count == 1)
        #expect(privacy.sharedAddress?.address == first)
        bench.controller.refuses = [:]
        bench.run(.milliseconds(200))
        let again = addresses()
        #expect(again.count == 1)
        #expect(privacy.sharedAddress?.address == again.first)
        #expect(failures == 0)
        // From then on it has the usual lifetime.
        bench.run(Self.interval - .milliseconds(300))
        #expect(addresses().isEmpty)
        bench.run(.milliseconds(300))
        #expect(addresses().count == 1)
        bench.controller.refuses[LESetRandomAddress.opcode] = .commandDisallowed
        privacy.reset()
        _ = privacy.begin(Self.fixed, on: controller())
        bench.run(.seconds(5))
        #expect(failures == 1)
        #expect(addresses().count == 1)
    }

    /// Neither the timer of an earlier address nor a pending retry shortens the lifetime of the new one.
    @Test(arguments: [false, true])
    func resetsCancelEarlierTimers(isRefused: Bool) {
        let privacy = privacy()
        _ = privacy.begin(Self.fixed, on: controller())
        bench.run(Self.interval - .milliseconds(500))
        if isRefused {
            bench.controller.refuses[LESetRandomAddress.opcode] = .commandDisallowed
            bench.run(.milliseconds(800))
            bench.controller.refuses = [:]
        }
        _ = addresses()
        privacy.reset()
        let begun = privacy.begin(Self.fixed, on: controller()).address
        bench.run(Self.interval - .milliseconds(100))
        #expect(addresses() == [begun])
        #expect(privacy.sharedAddress?.address == begun)
        bench.run(.milliseconds(200))
        #expect(addresses().count == 1)
        #expect(privacy.sharedAddress?.address != begun)
    }

    /// Events are handled one at a time, and none from before a reset.
    @Test func anEventWaitsUntilTheOneBeforeItIsDone() {
        let privacy = privacy()
        let user = InterruptingUser()
        privacy.scanner = user
        privacy.handle(.begin(hasSetAddresses: true))
        user.onPause = {
            let (state, before) = (privacy.quiet.state, privacy.waitingEvents)
            privacy.handle(.quiet(.scanner))
            privacy.handle(.need(.address))
            #expect(privacy.waitingEvents == before + 2)
            #expect(privacy.quiet.state == state)
            privacy.reset()
            #expect(privacy.waitingEvents == 1)
            #expect(privacy.quiet.state == state)
        }
        privacy.handle(.need(.address))
        #expect(privacy.waitingEvents == 0)
        #expect(privacy.quiet.state == .running)
        privacy.handle(.begin(hasSetAddresses: true))
        // Earlier needs no longer apply.
        #expect(privacy.waitingEvents == 0)
        #expect(privacy.quiet.state == .running)
        bench.run()
        #expect(addresses().isEmpty)
    }

    /// A controller that has the bonded peers on its list generates private addresses for them, instead of one that
    /// they can resolve.
    @Test(arguments: [false, true], [false, true])
    func theControllerMakesAddressesForThoseOnItsList(isPrivate: Bool, hasList: Bool) throws {
        let privacy = privacy(isPrivate: isPrivate)
        privacy.peers = [Self.bonded]
        _ = privacy.begin(Self.fixed, on: controller(listSize: hasList ? 4 : 0))
        bench.run()
        #expect(privacy.list.isInUse == hasList)
        #expect((privacy.list.capacity > 0) == hasList)
        let shown = try #require(privacy.sharedAddress)
        #expect(shown.isMadeByController == (isPrivate && hasList))
        #expect(shown.address.isResolved(by: Self.identity.key) == isPrivate)
        #expect((shown.address == Self.identity.address) == !isPrivate)
        #expect(addresses().count == (isPrivate ? 1 : 0))
    }

    @Test func anAdvertisingSetHasAnAddressOfItsOwnWhereThereAreSuch() {
        for isPrivate in [false, true] {
            let privacy = privacy(isPrivate: isPrivate)
            let resolvable = privacy.drawAddress()
            #expect(resolvable.map { $0.isResolved(by: Self.identity.key) } == (isPrivate ? true : nil))
            #expect(privacy.isPrivate == isPrivate)
        }
    }

    /// A device without private addresses uses the address it is given, and sets only random ones.
    @Test func aDeviceWithoutPrivateAddressesShowsTheOneThatItHas() {
        let privacy = privacy(isPrivate: false)
        #expect(privacy.begin(Self.fixed, on: controller()) == Self.fixed)
        #expect(privacy.sharedAddress == Self.fixed)
        bench.run(Self.interval + .seconds(1))
        #expect(addresses().isEmpty)
        privacy.reset()
        let random = OwnAddress(BluetoothAddress(0b11 << 46 | 9, kind: .randomDevice))
        #expect(privacy.begin(random, on: controller()) == random)
        bench.run(Self.interval + .seconds(1))
        #expect(addresses() == [random.address])
        #expect(privacy.sharedAddress == random)
    }
}

/// Knowledge about the bonded peers, and its lifetime.
@Suite struct PrivatePeerKnowledgeTests {
    private let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
    private let privacy: DevicePrivacy
    private let bonded = PrivatePeer(
        identity: BluetoothAddress(0b11 << 46 | 1, kind: .randomDevice),
        key: Key128(Block128(high: 7, low: 8))
    )
    private let keyless = PrivatePeer(identity: BluetoothAddress(0b11 << 46 | 2, kind: .randomDevice), key: nil)
    private static let stranger = BluetoothAddress(0b11 << 46 | 3, kind: .randomDevice)

    init() {
        bench.up()
        privacy = DevicePrivacy(
            host: bench.host,
            loop: bench.loop,
            random: RandomSource(seed: 3),
            identity: nil,
            stackEvents: bench.stackEvents
        )
        privacy.peers = [bonded, keyless]
    }

    private func begin(listSize: Int) {
        var information = ControllerInformation()
        information.apply(LEReadLocalSupportedFeatures.Response(features: [.privacy, .extendedAdvertising]))
        information.apply(ReadLocalSupportedCommands.Response(commands: SupportedCommands(HCICommandRegistry.all)))
        information.apply(LEReadResolvingListSize.Response(UInt8(listSize)))
        _ = privacy.begin(OwnAddress(BluetoothAddress(1, kind: .publicDevice)), on: information)
        bench.run()
    }

    /// A received address is valid for two seconds.
    @Test func receivedAddressesAreValidForTwoSeconds() {
        let address = BluetoothAddress.resolvablePrivate(bonded.key ?? .zero, RandomSource(seed: 1))
        privacy.noteAddress(bonded.identity, at: address)
        bench.run(.seconds(2))
        #expect(privacy.recentAddress(of: bonded.identity) == address)
        #expect(privacy.recentAddress(of: keyless.identity) == nil)
        bench.run(.nanoseconds(1))
        #expect(privacy.recentAddress(of: bonded.identity) == nil)
        privacy.noteAddress(bonded.identity, at: address)
        privacy.reset()
        #expect(privacy.recentAddress(of: bonded.identity) == nil)
    }

    @Test func theHostResolvesThoseWhomTheControllerDoesNotKnow() {
        #expect(privacy.isResolvedByHost(bonded.identity))
        #expect(!privacy.isResolvedByHost(keyless.identity))
        #expect(!privacy.isResolvedByHost(Self.stranger))
        begin(listSize: 2)
        #expect(!privacy.isResolvedByHost(bonded.identity))
        #expect(!privacy.isResolvedByHost(keyless.identity))
        privacy.reset()
        #expect(privacy.isResolvedByHost(bonded.identity))
        #expect(privacy.list.capacity == 0)
    }

    @Test func anAddressStandsForWhoeverItIs() {
        let address = BluetoothAddress.resolvablePrivate(bonded.key ?? .zero, RandomSource(seed: 1))
        #expect(privacy.identity(of: address) == bonded.identity)
        #expect(privacy.peer(at: address) == bonded)
        let told = BluetoothAddress(Self.stranger.value, kind: .randomIdentity)
        #expect(privacy.identity(of: told) == Self.stranger)
        #expect(privacy.peer(at: told) == nil)
        #expect(privacy.bonded(keyless.identity) == keyless)
        #expect(privacy.bonded(Self.stranger) == nil)
    }

    /// Without keys to try, strangers' addresses take no space.
    @Test("AB-G02: without keys no private address is cached")
    func withoutKeysNothingIsRemembered() {
        var resolver = AddressResolver()
        resolver.replace([keyless])
        let address = BluetoothAddress.resolvablePrivate(bonded.key ?? .zero, RandomSource(seed: 1))
        #expect(resolver.peer(at: address) == nil)
        #expect(resolver.remembered == 0)
    }

    /// The random part is between 1 and 2^22 - 2 for any source (Core Vol 6 Part B 1.3.2.2).
    @Test(arguments: 1...64 as ClosedRange<UInt64>)
    func everyPartThatIsAllowedComesOfTheSource(seed: UInt64) {
        let address = BluetoothAddress.resolvablePrivate(.zero, RandomSource(seed: seed))
        #expect(address.value >> 24 & 0x3F_FFFF == RandomSource(seed: seed).next() % 4_194_302 + 1)
        #expect(address.value >> 46 == 0b01)
        #expect(address.kind == .randomDevice)
    }
}

/// A user of the radio that has something to say while it is being paused.
private final class InterruptingUser: RadioUser {
    var onPause: () -> Void = {}

    func pause() { onPause() }
    func resume() {}
}
