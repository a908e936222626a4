import ATT
import AssignedNumbers
import BluetoothTypes
import HCI

/// The failures of links, which the verdict is made of.
extension CaptureStory {
    /// The time after which a transaction of ATT and of SMP has failed, in microseconds, less the inaccuracy of clocks
    /// (Core Vol 3 Part F 3.3.3, Part H 3.4).
    static let transactionTimeout: Int64 = 29_500_000
    static let transactionSection = "Core Vol 3 Part F 3.3.3"
    static let pairingTimeoutSection = "Core Vol 3 Part H 3.4"
    static let noKeySection = "Core Vol 4 Part E 7.8.26"

    var moment: StoryMoment { StoryMoment(packet: totals.records, time: now) }

    func evidence(_ text: String, _ section: String?) -> StoryEvidence {
        StoryEvidence(text, at: moment, section: section)
    }

    func failure(
        _ weight: StoryFailure.Weight,
        _ attempted: String,
        _ cause: StoryEvidence,
        of link: LinkStory,
        _ redemption: StoryFailure.Redemption
    ) -> StoryFailure {
        StoryFailure(
            weight: weight,
            attempted: attempted,
            cause: cause,
            connection: link.number,
            peer: link.peer,
            redemption: redemption
        )
    }

    /// Lets a link take over the failures of earlier ones to the same peer, for which it may make up.
    mutating func inheritFailures(_ link: inout LinkStory) {
        deeds.links += 1
        guard !failures.isEmpty else { return }
        if link.isCentral == true, !link.isAir {
            // A failed attempt to connect to any of several devices.
            _ = failures.remove { $0.redemption == .connection && $0.peer == nil }
        }
        guard let peer = link.peer.map(book.identity) else { return }
        for failure in failures.remove({ $0.peer.map(book.identity)?.value == peer.value }) {
            link.failures.add(failure)
        }
    }

    // MARK: Attributes

    mutating func judge(_ answer: AttributeStory.Answer, from server: StorySide, on link: inout LinkStory) {
        switch answer {
        case .success(let opcode, let handle): link.failures.redeem(.response(opcode, handle: handle))
        // A central may be a client alone, whatever its peripheral asks.
        case .refused(_, _, .requestNotSupported, _) where link.isCentral == (server == .near): break
        case .refused(let opcode, let handle, let code, let what):
            let text = "\(Self.name(server, of: link)) refused: \(StoryWords.attributeError(code.rawValue))"
            let section = StoryWords.section(ofAttributeError: code.rawValue)
            let cause = evidence(text + Self.circumstances(of: code, on: link), section)
            let attempted = Self.gerund(what, client: server.other, of: link)
            link.failures.add(failure(.refused, attempted, cause, of: link, .response(opcode, handle: handle)))
        case .refusedMTU:
            let text = "\(Self.name(server, of: link)) refused to exchange the MTU, which stays 23 octets"
            link.setbacks.mtu = setback(text, StoryWords.section(ofAttributeError: 6), server.other, link)
        case .notFound(let uuid):
            guard uuid != AttributeBook.genericAttribute, uuid != AttributeBook.genericAccess else { return }
            let title = AssignedNumbers.title(of: uuid)
            let text = "\(Self.name(server, of: link)) has no service \(title)"
            let found = setback(text, "Core Vol 3 Part G 4.4.2", server.other, link)
            link.setbacks.service = link.setbacks.service ?? (title, found)
        }
    }

    private func setback(_ text: String, _ section: String, _ client: StorySide, _ link: LinkStory) -> LinkStory.Setback
    {
        .init(cause: evidence(text, section), uses: link.attributes.uses, client: client)
    }

    private static func circumstances(of code: ATTErrorCode, on link: LinkStory) -> String {
        switch code {
        case .encryptionKeySizeTooShort: link.keySize.map { ", with a key of \(Int($0) * 8) bits" } ?? ""
        case .insufficientAuthentication, .insufficientEncryption:
            link.isProtectionKnown && !link.isEncrypted ? ", on a link that is not encrypted" : ""
        default: ""
        }
    }

    /// The name of an end in a verdict.
    static func name(_ side: StorySide, of link: LinkStory) -> String {
        link.isAir ? link.name(side) : side == .near ? "this device" : "the peer"
    }

    private static let gerunds = [
        "reads": "reading", "writes": "writing", "asks": "asking", "looks": "looking", "subscribes": "subscribing",
        "unsubscribes": "unsubscribing", "prepares": "preparing", "executes": "executing", "cancels": "cancelling",
        "sends": "sending", "indicates": "indicating",
    ]

    /// Returns what a client attempts, from the words for its request, such as "the central reads 0x0003".
    static func gerund(_ what: String, client: StorySide, of link: LinkStory) -> String {
        let words = what.dropFirst(link.name(client).count).drop { $0 == " " }
        let verb = words.prefix { $0 != " " }
        let text = (gerunds[String(verb)] ?? String(verb)) + words.dropFirst(verb.count)
        return client == .near ? "\(text) of" : "\(text), on request of"
    }

    // MARK: Security

    mutating func pairingFailed(_ pdu: PacketBuffer, from side: StorySide, on link: inout LinkStory) {
        let reason = PairingFailureWords(code: pdu.octet(at: 1) ?? 0, usesPasskey: link.pairing.usesPasskey)
        let text = "\(Self.name(side, of: link)) ended the pairing: \(reason)"
        let cause = evidence(text, StoryWords.pairingFailedSection)
        link.failures.add(failure(.insecure, "pairing with", cause, of: link, .pairing))
    }

    mutating func encryptionFailed(_ status: UInt8, _ link: inout LinkStory) {
        link.encrypting = nil
        let isKeyMissing = status == HCIStatus.pinOrKeyMissing.rawValue
        let text = isKeyMissing ? "the peer no longer has the key of the bond" : "encryption failed"
        let cause = evidence("\(text): \(HCIStatus(rawValue: status))", StoryWords.section(of: status))
        link.failures.add(failure(.insecure, "encrypting the link to", cause, of: link, .encryption))
    }

    mutating func lacksKey(_ link: inout LinkStory) {
        let cause = evidence("this device has no key for it: its bond is gone, or the peer's is", Self.noKeySection)
        link.failures.add(failure(.insecure, "encrypting the link to", cause, of: link, .encryption))
    }

    mutating func encryptionSucceeded(_ link: inout LinkStory) {
        link.encrypting = nil
        if link.pairing.isRunning { deeds.pairings += 1 }
        guard !link.failures.isEmpty else { return }
        link.failures.redeem(.encryption)
        link.failures.redeem(.pairing)
        // The request that was refused is repeated in ciphertext.
        if link.isAir { _ = link.failures.remove { $0.weight == .refused } }
    }

    // MARK: Signals

    mutating func judge(signal code: UInt8, _ data: PacketBuffer, from side: StorySide, on link: inout LinkStory) {
        switch code {
        case 0x13 where data.word(at: 0) != 0:
            let text = "\(Self.name(side, of: link)) rejected the connection parameters that were requested"
            link.setbacks.parameters = setback(text, "Core Vol 3 Part A 4.21", side.other, link)
        case 0x13: link.setbacks.parameters = nil
        case 0x15:
            guard let result = data.word(at: 8) else { return }
            guard result != 0 else {
                link.usesChannels = true
                return _ = link.failures.redeem(.channel)
            }
            // A client that asks a server for enhanced bearers which it lacks goes on with the unenhanced one.
            guard link.channelPSM[side.other] != 0x27 else { return }
            let text = "\(Self.name(side, of: link)) refused the channel: \(StoryWords.channelResult(result))"
            let psm = link.channelPSM[side.other].map { " to PSM \(StoryWords.handle($0))" } ?? ""
            let cause = evidence(text, "Core Vol 3 Part A 4.23")
            let whose = side == .far ? "with" : "on request of"
            link.failures.add(failure(.refused, "opening a channel\(psm), \(whose)", cause, of: link, .channel))
        default: break
        }
    }
}

/// The reason of Pairing Failed in words, with what it means for the method (Core Vol 3 Part H 3.5.5).
private struct PairingFailureWords: CustomStringConvertible {
    let description: String

    init(code: UInt8, usesPasskey: Bool) {
        let text = StoryWords.pairingFailure(code)
        // Confirm values and DHKey checks differ if the passkeys do (Core Vol 3 Part H 2.3.5.6.3).
        description = usesPasskey && [0x04, 0x0B].contains(code) ? "\(text), as with a wrong passkey" : text
    }
}
