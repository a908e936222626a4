import ATT
import BluetoothTypes
import ControllerStandIns
import EventLoops
import GATT
import HCI
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import Security

/// A link's results for every combination of key, peer and configuration, compared with a model.
@Suite struct SecureLinkModelTests {
    private static let levels = [7, 16].flatMap { size in
        [false, true].flatMap { isAuthenticated in
            [false, true].map {
                KeyLevel(keySize: size, isAuthenticated: isAuthenticated, isSecureConnections: $0)
            }
        }
    }

    /// The configurations that require these levels.
    private static let configurations = levels.map { floor in
        var configuration = PairingConfiguration()
        configuration.minimumKeySize = floor.keySize
        configuration.requiresProtection = floor.isAuthenticated
        configuration.legacy = floor.isSecureConnections ? .refused : .whenPeerOffersNothingElse
        return configuration
    }

    private static func bond(_ level: KeyLevel) -> Bond {
        SecurityBench.bond(
            authenticated: level.isAuthenticated,
            secureConnections: level.isSecureConnections,
            keySize: level.keySize
        )
    }

    /// Whether `a` is weaker than `b` in no property.
    private static func isAsGood(_ a: KeyLevel, as b: KeyLevel) -> Bool {
        let (a, b) = ([a.keySize, a.isAuthenticated ? 1 : 0, a.isSecureConnections ? 1 : 0], b)
        return zip(a, [b.keySize, b.isAuthenticated ? 1 : 0, b.isSecureConnections ? 1 : 0]).allSatisfy { $0 >= $1 }
    }

    private enum Stage: CaseIterable {
        case clear, encrypted, ending
    }

    /// The rights of a link at each stage, with each key and under each configuration, and the parties notified of them
    /// (AB-S07, AB-A10, AB-L07, Core Vol 3 Part C 10.2.4).
    @Test func aLinkHasTheRightsOfItsKeyAndTheFloorHoldsAtEachMoment() throws {
        for level in [nil] + Self.levels {
            let bench = try SecurityBench(.central, bond: level.map(Self.bond))
            let link = bench.link
            let bearer = ATTBearer(
                channel: bench.l2cap.register(.attribute, maximumPayload: 23),
                loop: bench.hci.loop,
                preferredMTU: 23
            )
            let client = GATTClient(bearer: bearer)
            let owner = bench.owner(of: link)
            var (old, told): ([LinkSecurity], [LinkSecurity]) = ([], [])
            owner.onChange = {
                old.append($0)
                client.linkSecurityChanged()
            }
            link.onEvent = {
                guard case .changed(let new) = $0 else { return }
                told.append(new)
                #expect(new == link.linkSecurity)
                #expect(client.linkSecurity == new)
                #expect(bench.protection == new)
            }
            for stage in Stage.allCases {
                if stage == .encrypted { bench.change(1) }
                if stage == .ending { link.disconnect() }
                for (configuration, floor) in zip(Self.configurations, Self.levels) {
                    let isAuthorized = !link.isAuthorized
                    for step in 0..<3 {
                        let before = link.linkSecurity
                        (old, told) = ([], [])
                        if step == 0 { bench.deviceSecurity.configuration = configuration }
                        if step == 1 { link.isAuthorized = isAuthorized }
                        if step == 2 { link.update() }
                        #expect(told == (link.linkSecurity == before ? [] : [link.linkSecurity]))
                        #expect(old == (link.linkSecurity == before ? [] : [before]))
                    }
                    let expected = Self.rights(level, stage, floor, isAuthorized)
                    #expect(link.linkSecurity == expected, "\(String(describing: level)) \(stage) \(floor)")
                    #expect(bench.protection == expected, "\(String(describing: level)) \(stage) \(floor)")
                }
            }
            #expect(bench.disconnects.map(\.handle) == [SecurityBench.handle])
        }
    }

    private static func rights(
        _ level: KeyLevel?,
        _ stage: Stage,
        _ floor: KeyLevel,
        _ isAuthorized: Bool
    ) -> LinkSecurity {
        let good = level.flatMap { isAsGood($0, as: floor) ? $0 : nil }
        var security = LinkSecurity()
        security.encryption = stage == .encrypted ? good : nil
        security.usableKey = good
        switch stage {
        case .clear: security.hasKey = level != nil
        case .encrypted: security.hasKey = good != nil
        case .ending: security.hasKey = true
        }
        security.isAuthorized = isAuthorized
        security.isSecureConnectionsOnly = floor.isAuthenticated && floor.isSecureConnections
        return security
    }

    /// The parameters of the next pairing after every change of configuration: all combinations, each differing from
    /// the previous one in one setting.
    @Test(arguments: [LERole.central, .peripheral])
    func aLinkPairsAsTheDeviceIsConfiguredNow(role: LERole) throws {
        let bench = try SecurityBench(role)
        let (security, manager) = (bench.deviceSecurity, bench.link.manager)
        let person = Person(Person.Slip(loop: bench.hci.loop))
        security.configuration.ioCapability = .displayYesNo
        for number in 0..<32 {
            let code = number ^ number >> 1
            let flags = (0..<5).map { code >> $0 & 1 == 1 }
            if (security.bonds != nil) != flags[0] { security.bonds = flags[0] ? bench.bonds : nil }
            if security.configuration.bonds != flags[1] { security.configuration.bonds = flags[1] }
            if (security.prompter != nil) != flags[2] { security.prompter = flags[2] ? person : nil }
            if security.policy.asksConsent != flags[3] { security.policy.asksConsent = flags[3] }
            let capability: IOCapability? = flags[4] ? .keyboardOnly : nil
            if security.policy.capabilityAsPeripheral != capability {
                security.policy.capabilityAsPeripheral = capability
            }
            #expect(manager.configuration.bonds == (flags[0] && flags[1]), "\(flags)")
            let own: IOCapability = flags[4] && role == .peripheral ? .keyboardOnly : .displayYesNo
            #expect(manager.configuration.ioCapability == (flags[2] ? own : .noInputNoOutput), "\(flags)")
            let consent: PairingConsent = !flags[3] ? .given : flags[2] ? .asked : .missing
            #expect(manager.consent == consent, "\(flags)")
        }
        // A new link has these settings from the start.
        security.prompter = nil
        let next = try #require(bench.connect(BluetoothAddress(0xC000_0000_0099, kind: .randomDevice), 0x41))
        #expect(next.manager.configuration.ioCapability == .noInputNoOutput)
        #expect(next.manager.consent == .given)
        #expect(manager.role == (role == .central ? .initiator : .responder))
        #expect(next.manager.role == .responder)
    }

    /// The level that a refusal leads to (Core Vol 3 Part C 10.3.1, table 10.2), for each key with which the link may
    /// be encrypted.
    @Test func eachRefusalAsksForTheNextBetterLink() throws {
        for level in [nil] + Self.levels {
            let bench = try SecurityBench(.central, bond: level.map(Self.bond))
            if level != nil { bench.change(1) }
            for code in 0...255 as ClosedRange<UInt8> {
                let wanted: SecurityLevel? =
                    switch ATTErrorCode(rawValue: code) {
                    case .insufficientEncryption: .encrypted
                    case .encryptionKeySizeTooShort:
                        SecurityLevel(
                            isAuthenticated: level?.isAuthenticated == true,
                            isSecureConnections: level?.isSecureConnections == true,
                            minimumKeySize: 16
                        )
                    case .insufficientAuthentication:
                        level.map { $0.isAuthenticated ? .secureConnections : .authenticated } ?? .encrypted
                    default: nil
                    }
                #expect(bench.link.level(after: ATTErrorCode(rawValue: code)) == wanted)
            }
            // An error unrelated to security starts nothing.
            bench.hci.transport.forgetCommands()
            var answers = 0
            bench.link.secure(after: .readNotPermitted) { answers += $0 == .untried ? 1 : 2 }
            bench.hci.run()
            #expect(answers == 1)
            #expect(bench.hci.transport.commands.isEmpty)
            #expect(bench.hci.transport.data.isEmpty)
        }
    }

    @Test func aLevelIsRaisedToTheFloorAndNeverLowered() {
        for (configuration, floor) in zip(Self.configurations, Self.levels) {
            #expect(configuration.floor == floor)
            for level in Self.levels {
                let raised = level.asked.joined(with: floor.asked)
                #expect(level.asked.isMet(by: level))
                #expect(raised.minimumKeySize == max(level.keySize, floor.keySize))
                for key in Self.levels {
                    let isEnough = Self.isAsGood(key, as: level) && Self.isAsGood(key, as: floor)
                    #expect(raised.isMet(by: key) == isEnough)
                }
            }
        }
        let only = PairingConfiguration.secureConnectionsOnly
        #expect(only.floor == KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true))
        // Except for debug keys, all other settings have their usual values.
        let usual = PairingConfiguration()
        #expect(only.isPairable)
        #expect(only.bonds)
        #expect(only.ioCapability == usual.ioCapability)
        #expect(!only.isDebugMode)
        let policy = SecurityPolicy()
        #expect(policy.lostBonds == .refused)
        #expect(policy.lostBondsOfCentrals == nil)
        #expect(policy.asksConsent)
        #expect(policy.encryptsBondedPeers)
        #expect(policy.capabilityAsPeripheral == nil)
    }

    /// A peer that breaks a pairing off has to wait, unless this device caused the failure (Core Vol 3 Part H 2.3.6,
    /// AB-S12).
    @Test("AB-S12: breaking off a pairing counts as a failure of the peer, unless this device caused it")
    func whichFailuresCount() {
        let counted: [SecurityError] = [
            .pairing(.timedOut), .pairing(.linkLost), .peerLostKey, .encryptionTimedOut, .encryptionFailed,
            .refusedByPerson, .linkLost, .notAllowed, .tooWeak, .keysRefused,
        ]
        for error in counted { #expect(error.countsAsFailedPairing) }
        #expect(!SecurityError.cancelled.countsAsFailedPairing)
        #expect(!SecurityError.forgotten.countsAsFailedPairing)
    }

    /// A central encrypts with the bond if the policy says so; a waiting caller gets the result once.
    @Test(
        "behaviour 6.11: a central encrypts with the bond at once if its policy says so",
        arguments: [LERole.central, .peripheral],
        [(false, false), (false, true), (true, false), (true, true)]
    )
    func centralsEncryptAtOnceByPolicy(role: LERole, _ means: (isBonded: Bool, byItself: Bool)) throws {
        let (isBonded, byItself) = means
        let bench = try SecurityBench(.peripheral, bond: isBonded ? SecurityBench.bond() : nil, from: .none)
        bench.deviceSecurity.policy.encryptsBondedPeers = byItself
        bench.hci.transport.forgetCommands()
        bench.hci.inject(SecurityBench.connection(role, SecurityBench.address, ConnectionHandle(rawValue: 0x41)))
        let link = try #require(bench.links.all.last ?? nil)
        #expect((link.bond != nil) == isBonded)
        let begins = role == .central && isBonded && byItself
        #expect(bench.hci.transport.commands.count { $0 is LEEnableEncryption } == (begins ? 1 : 0))
        var results: [SecurityError?] = []
        for _ in 0..<2 { link.prepare { results.append($0.error) } }
        #expect(results == (begins ? [] : [nil, nil]))
        guard begins else { return }
        bench.change(0, .pinOrKeyMissing, ConnectionHandle(rawValue: 0x41))
        #expect(results == [.peerLostKey, .peerLostKey])
        link.prepare { results.append($0.error) }
        #expect(results == [.peerLostKey, .peerLostKey, nil])
    }

    /// A lost bond recovers when the peer proves its key: neither an unfinished pairing nor a pairing on the link that
    /// stored nothing suffices.
    @Test(arguments: [false, true], [false, true])
    func provenKeysRestoreLostBonds(isLost: Bool, hasPairedWithout: Bool) throws {
        var bond = SecurityBench.bond()
        bond.isLost = isLost
        let bench = try SecurityBench(.central, bond: bond)
        let before = try #require(bench.link.bond).lastUse
        if hasPairedWithout { try bench.link.store(bond.keys, isBonding: false) }
        bench.change(1)
        let now = try #require(bench.link.bond)
        #expect(now.isLost == (isLost && hasPairedWithout))
        #expect(now.lastUse > before)
    }

    /// Sign counters never go back (Core Vol 3 Part H 2.4.5), whichever link used them.
    @Test func theNumbersOfSignaturesNeverGoBack() throws {
        var bond = SecurityBench.bond()
        (bond.keys.localSignCounter, bond.keys.peerSignCounter) = (5, 7)
        let bench = try SecurityBench(.central, bond: bond)
        for (own, peers, ownThen, peersThen) in [(4, 9, 5, 9), (8, 8, 8, 9), (0, 0, 8, 9)]
            as [(UInt32, UInt32, UInt32, UInt32)]
        {
            var keys = bond.keys
            (keys.localSignCounter, keys.peerSignCounter) = (own, peers)
            try bench.link.securityManager(bench.link.manager, keep: keys)
            let kept = try #require(bench.bonds.bonds.first).keys
            #expect([kept.localSignCounter, kept.peerSignCounter] == [ownThen, peersThen])
        }
        bench.storage.failure = .tooLarge(place: "memory")
        bond.keys.localSignCounter = 10
        #expect(throws: BondError.self) { try bench.link.securityManager(bench.link.manager, keep: bond.keys) }
        bench.deviceSecurity.bonds = nil
        #expect(throws: SecurityError.keysRefused) {
            try bench.link.securityManager(bench.link.manager, keep: bond.keys)
        }
    }

    // MARK: Storage of a pairing

    @Test func aNewBondHasTheNameAndTheNumberOfItsOwner() throws {
        let other = BondIdentifier(high: 9, low: 9)
        for isFree in [true, false] {
            let bench = try SecurityBench(.central)
            if !isFree {
                var bond = SecurityBench.bond(BluetoothAddress(0xC0FF_EE00_0009, kind: .publicDevice))
                bond.identifier = other
                try bench.bonds.add(bond)
            }
            (bench.link.identifier, bench.link.name) = (other, "Lamp")
            #expect(bench.link.prompted(.app).identifier == other)
            #expect(bench.link.prompted(.app).name == "Lamp")
            try bench.link.store(SecurityBench.bond().keys, isBonding: true)
            let bond = try #require(bench.link.bond)
            // A peer that has not proved the key of a bonded peer does not get that bond (AB-S10, behaviour 6.20).
            #expect((bond.identifier == other) == isFree)
            #expect(bond.name == "Lamp")
            #expect(bond.address == SecurityBench.address)
            #expect(bond.record == nil)
            #expect(bond.cache == nil)
            #expect(bench.bonds.bonds.count == (isFree ? 1 : 2))
            #expect(bench.link.prompted(.app).identifier == bond.identifier)
            #expect(bench.link.prompted(.app).address == bond.address)
        }
    }

    /// The peer's subscriptions, the discovered cache and its name outlast the keys.
    @Test func aBondThatIsReplacedKeepsAllButTheKeys() throws {
        var bond = SecurityBench.bond(authenticated: false)
        bond.name = "Lamp"
        bond.record = ClientRecord()
        bond.cache = AttributeCache(hash: nil)
        bond.isLost = true
        let bench = try SecurityBench(.central, bond: bond)
        let keys = SecurityBench.bond(authenticated: true).keys
        try bench.link.store(keys, isBonding: true)
        let new = try #require(bench.bonds.bonds.first)
        #expect(bench.bonds.bonds.count == 1)
        #expect(new.identifier == bond.identifier)
        #expect(new.keys == keys)
        #expect(new.name == "Lamp")
        #expect(new.record == bond.record)
        #expect(new.cache == bond.cache)
        #expect(!new.isLost)
    }

    /// Only a peer that has paired under a fixed address may use its identity address again (Core Vol 6 Part B 6).
    @Test("behaviour 6.23: a bond has the fixed address of the pairing, and peers that paired from one need not hide")
    func bondsFromFixedAddressesNeedNotHide() throws {
        let identity = BluetoothAddress(0xC0FF_EE00_0005, kind: .publicDevice)
        let private0 = BluetoothAddress(0x5C07_F99B_58B2, kind: .randomDevice)
        let fixed = BluetoothAddress(0xDC07_F99B_58B2, kind: .randomDevice)
        let unresolvable = BluetoothAddress(0x1C07_F99B_58B2, kind: .randomDevice)
        for (address, resolved, given, shows) in [
            (fixed, nil, identity, true), (fixed, nil, fixed, true), (fixed, nil, nil, true),
            (identity, nil, fixed, true), (unresolvable, nil, identity, false),
            (identity, nil, identity, true), (identity, nil, nil, true), (private0, nil, identity, false),
            (private0, nil, nil, true),
            (BluetoothAddress(identity.value, kind: .publicIdentity), private0, identity, false),
            (BluetoothAddress(identity.value, kind: .publicIdentity), private0, nil, false),
        ] as [(BluetoothAddress, BluetoothAddress?, BluetoothAddress?, Bool)] {
            let bench = try SecurityBench(.peripheral, from: .none)
            var event = SecurityBench.connection(.peripheral, address, ConnectionHandle(rawValue: 0x41))
            if let resolved { event.peerResolvableAddress = resolved }
            bench.hci.inject(event)
            let link = try #require(bench.links.all.last ?? nil)
            var keys = SecurityBench.bond().keys
            keys.identityAddress = given
            try link.store(keys, isBonding: true)
            let bond = try #require(link.bond)
            #expect(bond.showsIdentity == shows)
            #expect(bond.address == (given ?? address.plain))
            let isOther = given.map { $0 != address } ?? false
            #expect(bond.pairingAddress == (isOther && shows ? address : nil))
        }
    }
}
