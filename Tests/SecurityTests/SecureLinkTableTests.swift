import BluetoothTypes
import ControllerStandIns
import HCI
import L2CAP
import SMP
import StackStandIns
import Testing

@testable import Security

/// Every event on a link, in each of its states, with all its results.
@Suite struct SecureLinkTableTests {
    /// The events that may occur on a link.
    private enum Step: String, CaseIterable {
        case on, off, onV2, offV2, keyMissing, silence, failure, refreshed, notRefreshed, expired
        case keyRequest, otherKeyRequest, end, noEnd
        case secure, pair, prepare, authorize, forget, removal, noStore, giveWay, loss, disconnect
        case permission, hastyPermission, permissionAndOn, bonding, pairing, badBonding, cancelledPairing,
            forgottenPairing, failedPairing, lostKey
        case replacement, lostReplacement

        func happen(to link: SecureLink, _ record: LinkRecord) throws {
            let (bench, handle) = (record.bench, SecurityBench.handle)
            switch self {
            case .on: bench.change(1)
            case .off: bench.change(0)
            case .onV2, .offV2:
                let state = EncryptionState(rawValue: self == .onV2 ? 1 : 0)
                bench.hci.inject(EncryptionChangeV2(EncryptionChange(handle: handle, state: state), keySize: 16))
            case .keyMissing: bench.change(0, .pinOrKeyMissing)
            case .silence: bench.change(0, .linkLayerResponseTimeout)
            case .failure: bench.change(1, .unspecifiedError)
            case .refreshed: link.encryptionRefreshed(.success)
            case .notRefreshed: link.encryptionRefreshed(.connectionTimeout)
            case .expired: bench.hci.inject(AuthenticatedPayloadTimeoutExpired(handle: handle))
            case .keyRequest:
                bench.hci.inject(LELongTermKeyRequest(handle: handle, random: 0, encryptedDiversifier: 0))
            case .otherKeyRequest:
                bench.hci.inject(LELongTermKeyRequest(handle: handle, random: 0, encryptedDiversifier: 1))
            case .end, .noEnd:
                var event = DisconnectionComplete()
                (event.status, event.handle) = (self == .end ? .success : .commandDisallowed, handle)
                bench.hci.inject(event)
            case .secure: link.secure(.encrypted, completion: record.completion("secure"))
            case .pair: link.pair(completion: record.completion("paired"))
            case .prepare: link.prepare(record.completion("prepared"))
            case .authorize: link.isAuthorized.toggle()
            case .forget, .removal:
                let bond = SecurityBench.bond().identifier
                do {
                    if self == .forget { try bench.deviceSecurity.forget(bond) } else { try bench.bonds.remove(bond) }
                } catch {
                    record.note("no bond")
                }
            case .noStore: bench.deviceSecurity.bonds = nil
            case .giveWay: link.giveWay()
            case .loss: link.securityLost()
            case .disconnect: link.disconnect(.remoteUserTerminated)
            default: try report(link, record)
            }
        }

        /// Calls the Security Manager's delegate method for this step.
        private func report(_ link: SecureLink, _ record: LinkRecord) throws {
            let manager = link.manager
            switch self {
            case .permission, .hastyPermission, .permissionAndOn:
                let security = record.bench.deviceSecurity
                if self == .hastyPermission {
                    for isStranger in [false, true] { security.pairingFailed(with: link.peer, isStranger: isStranger) }
                }
                record.note(security.mayPair(with: link.peer, [false, true]) ? "may pair" : "may not pair")
                link.securityManager(manager, perform: .askPermission)
                if self == .permissionAndOn { record.bench.change(1) }
            case .bonding, .pairing, .badBonding:
                if self == .badBonding { record.bench.storage.failure = .tooLarge(place: "memory") }
                do {
                    let keys = SecurityBench.bond(authenticated: false).keys
                    try link.store(keys, isBonding: self != .pairing)
                } catch {
                    record.note(link.keysRefusal == nil ? "not stored" : "keys refused")
                }
            case .cancelledPairing: fail(link, .cancelled)
            case .forgottenPairing: fail(link, .forgotten)
            case .failedPairing: fail(link, .linkLost)
            case .lostKey: link.securityManager(manager, perform: .fail(.peerLostKey))
            case .replacement:
                link.securityManager(manager, perform: .ask(.confirmReplacement) { record.note("answer \($0)") })
            default:
                record.bench.deviceSecurity.policy.lostBonds = .asked
                link.securityManager(manager, perform: .ask(.confirmReplacement) { record.note("answer \($0)") })
            }
        }

        private func fail(_ link: SecureLink, _ error: SecurityError) {
            link.securityManager(link.manager, perform: .askPermission)
            link.securityManager(link.manager, perform: .fail(error))
        }
    }

    /// The initial states of the link.
    private enum Start: String, CaseIterable {
        case stranger, bonded, encrypted

        func bench(_ role: LERole) throws -> SecurityBench {
            let bench = try SecurityBench(role, bond: self == .stranger ? nil : SecurityBench.bond())
            guard self == .encrypted else { return bench }
            if role == .peripheral {
                let event = LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0)
                bench.hci.inject(event)
            }
            bench.change(1)
            return bench
        }
    }

    /// The results of a step, if any, and the new state if it has changed.
    private func outcome(_ step: Step, _ record: LinkRecord) throws -> String? {
        let before = record.state
        try step.happen(to: record.bench.link, record)
        let mayPair = record.bench.deviceSecurity.mayPair(with: SecurityBench.address, [false, true])
        let may = mayPair ? [] : ["has to wait"]
        let words = [record.take()].filter { !$0.isEmpty } + (record.state == before ? [] : [record.state]) + may
        return words.isEmpty ? nil : "\(step.rawValue): \(words.joined(separator: " -> "))"
    }

    private func lines(_ role: LERole, _ start: Start) throws -> [String] {
        var (lines, nothing) = ([start.rawValue], [String]())
        for step in Step.allCases {
            let record = LinkRecord(try start.bench(role))
            if lines.count == 1 { lines.append(record.state) }
            if let line = try outcome(step, record) { lines.append(line) } else { nothing.append(step.rawValue) }
        }
        return lines + ["nothing: \(nothing.joined(separator: " "))"]
    }

    /// All steps in sequence on a link that is over or being disconnected: few of them have an effect.
    private func linesAtTheEnd(_ role: LERole, isOver: Bool) throws -> [String] {
        let record = LinkRecord(try Start.encrypted.bench(role))
        if isOver { record.bench.link.end() } else { record.bench.link.disconnect() }
        var lines = [isOver ? "over" : "ending"]
        lines.append("\(record.take()) -> \(record.state)")
        for step in Step.allCases where step != .end {
            if let line = try outcome(step, record) { lines.append(line) }
        }
        return lines
    }

    @Test(arguments: [LERole.central, .peripheral])
    func everyEventInEveryState(role: LERole) throws {
        var lines: [String] = []
        for start in Start.allCases { lines += try self.lines(role, start) }
        for isOver in [false, true] { lines += try linesAtTheEnd(role, isOver: isOver) }
        let expected = SecureLinkTable.lines(role)
        #expect(lines.count == expected.count)
        for (line, wanted) in zip(lines, expected) { #expect(line == wanted) }
    }
}

extension DeviceSecurity {
    /// Whether pairings of all these kinds may begin.
    fileprivate func mayPair(with peer: BluetoothAddress, _ kinds: [Bool]) -> Bool {
        kinds.allSatisfy { mayPair(with: peer, isStranger: $0) }
    }
}
