import BluetoothTypes
import ControllerStandIns
import Cryptography
import EventLoops
import HCI
import HCIHost
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import Security

/// Prompts of several links at one device: which link gets which answer, and what happens to unanswered ones.
@Suite struct DevicePromptTests {
    /// A user who leaves every prompt open until a test answers.
    private final class Desk: PairingPrompter {
        private(set) var opened: [(prompt: PairingPrompt, link: UInt64, cause: PairingCause)] = []
        private(set) var closed: [UInt64] = []
        private(set) var answers: [(PairingAnswer) -> Void] = []

        func prompt(_ prompt: PairingPrompt, peer: PromptedPeer, answer: @escaping (PairingAnswer) -> Void) {
            opened.append((prompt, peer.link, peer.cause))
            answers.append(answer)
        }

        func closePrompt(_ peer: PromptedPeer) { closed.append(peer.link) }
    }

    /// Three links to strangers, and the answers they received.
    private final class Office {
        let bench: SecurityBench
        var links: [SecureLink]
        var desk: Desk? = Desk()
        var answered: [String] = []
        var deviceSecurity: DeviceSecurity { bench.deviceSecurity }

        init() throws {
            bench = try SecurityBench(.peripheral)
            links = [bench.link]
            for number: UInt16 in [1, 2] {
                let address = BluetoothAddress(0xC000_0000_0090 + UInt64(number), kind: .randomDevice)
                links.append(try #require(bench.connect(address, 0x40 + number)))
            }
            deviceSecurity.prompter = desk
        }

        func ask(_ link: Int, _ prompt: PairingPrompt = .confirmPairing) {
            let number = link + 1
            deviceSecurity.ask(prompt, of: links[link]) { [unowned self] in answered.append("\(number) \($0)") }
        }
    }

    @Test func linksAreNumberedAndAskedAboutInTurn() throws {
        let office = try Office()
        let desk = try #require(office.desk)
        #expect(office.links.map(\.number) == [1, 2, 3])
        for link in 0..<3 { office.ask(link) }
        #expect(desk.opened.map(\.link) == [1])
        #expect(office.links.allSatisfy { $0.hasPrompt })
        // A keypress does not complete the prompt.
        desk.answers[0](.typing(.digitEntered))
        #expect(office.answered == ["1 \(PairingAnswer.typing(.digitEntered))"] && office.links[0].hasPrompt)
        desk.answers[0](.accept)
        #expect(office.answered.last == "1 accept" && !office.links[0].hasPrompt)
        #expect(desk.opened.map(\.link) == [1, 2])
        #expect(desk.closed.isEmpty)
        // An answer counts once.
        desk.answers[0](.refuse)
        #expect(office.answered.count == 2)
        // A prompt that is no longer needed is closed, and the next one is opened.
        office.deviceSecurity.closePrompt(of: office.links[1])
        #expect(desk.closed == [2] && desk.opened.map(\.link) == [1, 2, 3] && !office.links[1].hasPrompt)
        desk.answers[1](.accept)
        #expect(office.answered.count == 2)
        desk.answers[2](.refuse)
        #expect(office.answered.last == "3 refuse" && !office.links[2].hasPrompt)
        #expect(office.answered.count == 3)
        #expect(desk.closed == [2])
    }

    @Test("AB-S16: an app's prompt replaces a stranger's in the same turn, and each answer is for its own showing")
    func anAppGoesFirst() throws {
        let office = try Office()
        let desk = try #require(office.desk)
        for link in 0..<2 { office.ask(link) }
        office.links[2].secure(.encrypted) { _ in }
        office.ask(2)
        try #require(desk.opened.map(\.link) == [1, 3])
        #expect(desk.opened.map(\.cause) == [.stranger, .app])
        #expect(desk.closed == [1])
        desk.answers[0](.accept)
        #expect(office.answered.isEmpty)
        desk.answers[1](.refuse)
        #expect(office.answered == ["3 refuse"])
        // The stranger is asked about anew: an answer to the first showing is late.
        #expect(desk.opened.map(\.link) == [1, 3, 1])
        desk.answers[0](.accept)
        #expect(office.answered.count == 1)
        // An app comes to need a pairing that waits.
        office.links[1].secure(.encrypted) { _ in }
        try #require(desk.opened.map(\.link) == [1, 3, 1, 2])
        desk.answers[3](.accept)
        try #require(desk.answers.count == 5)
        desk.answers[4](.accept)
        #expect(office.answered == ["3 refuse", "2 accept", "1 accept"])
    }

    @Test("AB-S16: a pairing is an app's while an app waits for it, and not because the peer makes this device ask")
    func causes() throws {
        #expect(try SecurityBench(.central).link.cause == .known)
        let (bench, desk) = (try SecurityBench(.peripheral), Desk())
        bench.deviceSecurity.prompter = desk
        #expect(bench.link.cause == .stranger)
        bench.link.secure(.encrypted, isForApp: false) { _ in }
        #expect(bench.link.cause == .stranger)
        var ends = 0
        bench.link.secure(.encrypted) { _ in ends += 1 }
        bench.link.pair { _ in ends += 1 }
        #expect(bench.link.cause == .app)
        bench.link.end()
        #expect(ends == 2)
        #expect(desk.opened.isEmpty)
        #expect(bench.link.cause == .stranger)
        // A peer that has proved its bond is known.
        let bonded = try SecurityBench(.peripheral, bond: SecurityBench.bond())
        #expect(bonded.link.cause == .stranger)
        bonded.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0))
        bonded.change(1)
        #expect(bonded.link.cause == .known)
    }

    @Test("AB-S18: strangers at all links share one budget, and an app's pairing is never refused for it")
    func strangersShareABudget() throws {
        let office = try Office()
        for _ in 0..<PairingBackOff.strangerBurst { #expect(office.deviceSecurity.strangerBegins() == true) }
        let link = office.links[0]
        link.securityManager(link.manager, perform: .askPermission)
        #expect(link.pairing == .none)
        link.secure(.encrypted) { _ in }
        link.securityManager(link.manager, perform: .askPermission)
        #expect(link.pairing == .underWay(.app))
    }

    /// A link's later prompt replaces its earlier one.
    @Test func aLinkHasOneQuestion() throws {
        let office = try Office()
        let desk = try #require(office.desk)
        office.ask(0)
        office.ask(1, .compare(1))
        office.ask(1, .compare(2))
        office.ask(0, .enterPasskey)
        #expect(desk.closed == [1])
        #expect(desk.opened.map(\.prompt) == [.confirmPairing, .enterPasskey])
        desk.answers[0](.accept)
        #expect(office.answered.isEmpty)
        desk.answers[1](.passkey(5))
        #expect(office.answered == ["1 \(PairingAnswer.passkey(5))"] && desk.opened.map(\.prompt).last == .compare(2))
        #expect(desk.opened.count == 3)
    }

    /// A link that ends while its prompt is open or queued.
    @Test func aLinkThatEndsIsNotAskedAbout() throws {
        let office = try Office()
        let desk = try #require(office.desk)
        for link in 0..<3 { office.ask(link) }
        office.links[1].end()
        #expect(desk.closed.isEmpty)
        #expect(desk.opened.count == 1)
        office.links[0].end()
        #expect(desk.closed == [1])
        #expect(desk.opened.map(\.link) == [1, 3])
        #expect(office.answered.isEmpty)
        #expect(!office.links[0].hasPrompt && !office.links[1].hasPrompt)
    }

    /// The queued link has been released: the next prompt is opened.
    @Test func aLinkThatNobodyKeepsIsPassedOver() throws {
        let office = try Office()
        let desk = try #require(office.desk)
        for link in 0..<3 { office.ask(link) }
        weak let second = office.links[1]
        office.links.remove(at: 1)
        office.bench.links.all.removeAll { $0 === second }
        try #require(second == nil)
        desk.answers[0](.accept)
        #expect(desk.opened.map(\.link) == [1, 3])
        #expect(office.answered == ["1 accept"])
    }

    /// A prompter that is gone, removed or released, counts as a refusal (AB-A14).
    @Test("AB-A14: without a prompter a device refuses every prompt")
    func withoutAPrompterEveryAnswerIsNo() throws {
        let office = try Office()
        for link in 0..<2 { office.ask(link) }
        office.deviceSecurity.prompter = nil
        #expect(office.answered == ["1 refuse", "2 refuse"])
        #expect(office.links.allSatisfy { !$0.hasPrompt })
        office.ask(2)
        #expect(office.answered.last == "3 refuse" && !office.links[2].hasPrompt)
        // Another user gets no earlier prompt, and receives all prompts from now on.
        office.deviceSecurity.prompter = office.desk
        office.ask(0)
        let second = Desk()
        office.deviceSecurity.prompter = second
        #expect(office.answered.count == 3)
        #expect(second.opened.isEmpty)
        try #require(office.desk).answers.last?(.accept)
        #expect(office.answered.last == "1 accept")
        office.ask(1)
        #expect(second.opened.map(\.link) == [2])
    }

    @Test("AB-A14: the device does not wait for a prompter that was released")
    func releasedPromptersAreNotAwaited() throws {
        let office = try Office()
        for link in 0..<2 { office.ask(link) }
        office.desk = nil
        office.ask(2)
        #expect(office.answered == ["3 refuse"] && !office.links[2].hasPrompt)
        office.links[0].end()
        #expect(office.answered == ["3 refuse", "2 refuse"])
    }

    /// The answer to a completed prompt does not apply to the link's next prompt.
    @Test func aNewQuestionIsNotAnsweredForTheOldOne() throws {
        let office = try Office()
        let other = Desk()
        office.deviceSecurity.ask(.confirmPairing, of: office.links[0]) { _ in
            office.deviceSecurity.prompter = other
            office.ask(1, .compare(7))
        }
        office.ask(1)
        office.deviceSecurity.prompter = nil
        #expect(office.answered.isEmpty)
        #expect(other.opened.map(\.prompt) == [.compare(7)])
        other.answers.first?(.accept)
        #expect(office.answered == ["2 accept"])
    }

    // MARK: Identities

    /// A link that reuses a handle whose disconnection was never reported is a new link.
    @Test func aHandleThatIsUsedAgainEndsTheOldLink() throws {
        let bench = try SecurityBench(.peripheral)
        let second = try #require(bench.connect(BluetoothAddress(0xC000_0000_0099, kind: .randomDevice), 0x41))
        #expect(bench.link.isOpen)
        #expect(second.isOpen)
        let l2cap = L2CAPConnection(link: second.connection, role: .peripheral, loop: bench.hci.loop)
        let third = try #require(bench.deviceSecurity.attach(second.connection, l2cap, ownAddress: .none))
        #expect(bench.link.isOpen)
        #expect(!second.isOpen)
        #expect(third.isOpen)
        second.end()
        #expect(bench.deviceSecurity.link(second.connection.handle) === third)
    }

    /// Links to the peer that has paired give way, and no others; one at a time, and not one that has ended in the
    /// meantime.
    @Test func onlyLinksToTheSamePeerGiveWay() throws {
        let irk = Key128(Block128(high: 3, low: 4))
        let addresses = ([0x40_1234, 0x40_5678, 0x40_9ABC] as [UInt32]).map { part in
            BluetoothAddress(UInt64(part) << 24 | UInt64(Toolbox.ah(irk, part)), kind: .randomDevice)
        }
        let bench = try SecurityBench(.peripheral, from: addresses[0])
        let second = try #require(bench.connect(addresses[1], 0x41))
        let third = try #require(bench.connect(addresses[2], 0x42))
        let stranger = try #require(bench.connect(BluetoothAddress(0xC000_0000_0099, kind: .randomDevice), 0x43))
        var replaced: [UInt64] = []
        let owners = [bench.link, second, third, stranger].map { link in
            let owner = bench.owner(of: link)
            owner.onReplaced = { replaced.append(link.number) }
            return owner
        }
        owners[0].onReplaced = {
            replaced.append(1)
            second.end()
        }
        var keys = SecurityBench.bond().keys
        (keys.identityKey, keys.identityAddress) = (irk, SecurityBench.address)
        try third.store(keys, isBonding: true)
        #expect(replaced == [1])
        #expect(bench.disconnects.map(\.handle) == [SecurityBench.handle])
        #expect(bench.disconnects.map(\.reason) == [.remoteUserTerminated])
        #expect(stranger.isOpen)
        #expect(third.isOpen)
        #expect(!bench.link.isOpen)
    }

    /// A bond without an identity resolving key never matches a private address.
    @Test func aBondWithoutAnIdentityKeyIsNotFoundByAPrivateAddress() throws {
        let address = BluetoothAddress(0b01 << 46 | 0x1234, kind: .randomDevice)
        let bench = try SecurityBench(.peripheral, bond: SecurityBench.bond(), from: address)
        #expect(bench.link.bond == nil)
        #expect(bench.link.peer == address)
    }

    /// A fixed address is its own identity, and has no key (Core Vol 3 Part H 2.4.2.1, Vol 6 Part B 6).
    @Test func localIdentity() throws {
        let bench = try SecurityBench(.peripheral)
        let identity = bench.bonds.identity
        let (fixed, hidden) = (
            [BluetoothAddress(5, kind: .publicDevice), BluetoothAddress(0b11 << 46 | 5, kind: .randomDevice)],
            [0b01 << 46 | 5, 5].map { BluetoothAddress($0, kind: .randomDevice) }
        )
        for address in fixed {
            #expect(bench.deviceSecurity.identity(for: address) == LocalIdentity(address: address, key: .zero))
        }
        for address in hidden { #expect(bench.deviceSecurity.identity(for: address) == identity) }
        bench.deviceSecurity.bonds = nil
        for address in fixed + hidden { #expect(bench.deviceSecurity.identity(for: address) == nil) }
        bench.deviceSecurity.bonds = bench.bonds
        #expect(bench.deviceSecurity.identity == identity)
    }

    // MARK: Notifications to other components

    /// The privacy component is notified of each change of the bonds, and of each use.
    @Test func thePrivacyKnowsTheBondsAtEachMoment() throws {
        let bench = try SecurityBench(.central, bond: SecurityBench.bond())
        let privacy = DevicePrivacy(
            host: bench.hci.host,
            loop: bench.hci.loop,
            random: RandomSource(seed: 3),
            identity: nil,
            stackEvents: bench.hci.stackEvents
        )
        func known() -> [PrivatePeer] { bench.bonds.bonds.map { PrivatePeer($0) } }
        bench.deviceSecurity.privacy = privacy
        #expect(privacy.peers == known())
        #expect(!known().isEmpty)
        bench.change(1)
        #expect(privacy.peers == known())
        #expect(privacy.peers.first?.lastUse != PrivatePeer(SecurityBench.bond()).lastUse)
        bench.deviceSecurity.bonds = nil
        #expect(privacy.peers.isEmpty)
        bench.deviceSecurity.bonds = bench.bonds
        #expect(privacy.peers == known())
        var changed: [BondIdentifier] = []
        bench.deviceSecurity.onBondChange = { changed.append($0) }
        try bench.deviceSecurity.forget(SecurityBench.bond().identifier)
        #expect(privacy.peers.isEmpty)
        #expect(changed == [SecurityBench.bond().identifier])
    }

    @Test func withoutAControllerNothingIsSent() {
        let bench = HostBench([.extendedAdvertising, .phy2M, .phyCoded])
        let security = DeviceSecurity(loop: bench.loop, random: RandomSource(seed: 1), stackEvents: bench.stackEvents)
        var answers: [String] = []
        security.send(Disconnect(handle: SecurityBench.handle, reason: .remoteUserTerminated)) {
            answers.append("\($0)")
        }
        #expect(answers == ["\(Result<Disconnect.Response, HCICommandError>.failure(.host(.notRunning)))"])
        #expect(security.bond(behind: SecurityBench.address) == nil)
        #expect(security.bonds == nil)
    }

    @Test func usedOutOfBandDataAreDiscarded() throws {
        let bench = try SecurityBench(.central)
        bench.deviceSecurity.offerOutOfBand(try #require(OwnOutOfBandData(random: RandomSource(seed: 1))))
        #expect(bench.deviceSecurity.ownOutOfBand != nil)
        bench.link.securityManager(bench.link.manager, perform: .usedOutOfBand)
        #expect(bench.deviceSecurity.ownOutOfBand == nil)
        #expect(bench.link.manager.outOfBand.own == nil)
    }
}
