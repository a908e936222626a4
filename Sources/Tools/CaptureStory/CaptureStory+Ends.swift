import BluetoothTypes
import HCI

/// Why links end, and what their ends follow from.
extension CaptureStory {
    /// A peer that disconnects earlier than this, in microseconds, before anything was exchanged, refuses the link.
    private static let shortLink: Int64 = 2_000_000
    /// The time within which a disconnection follows from a failure, in microseconds, and from the request of a
    /// transaction that fails 30 s later.
    private static let consequence: Int64 = 5_000_000
    private static let parameterTimeout: Int64 = 10_000_000
    /// The time in which a subscription brings a value, in microseconds, if values change by themselves.
    private static let subscriptionTimeout: Int64 = 10_000_000

    /// Judges a link at its end, and hands its failures to the capture.
    mutating func judge(_ link: inout LinkStory, _ ending: LinkEnding) {
        noteUnanswered(link, ending)
        let failed = failure(of: link, ending)
        if let failed { link.failures.add(failed) }
        if let initiator = ending.initiator { follow(&link, ending, initiator) }
        if failed?.redemption != .connection { deeds.recover(link.failures.redeem(.connection)) }
        for failure in link.failures.list { failures.add(failure) }
        addDeeds(of: link, ending)
    }

    /// Links the end of a link with the failure of the link that it follows from.
    private func follow(_ link: inout LinkStory, _ ending: LinkEnding, _ initiator: StorySide) {
        let text = "\(Self.name(initiator, of: link)) disconnected: \(ending.reason ?? "")"
        let effect = evidence(text, ending.status.map { StoryWords.section(of: $0.rawValue) })
        link.failures.follow(link.number, effect) { failure in
            let longest = failure.weight > .refused ? Self.transactionTimeout + Self.consequence : Self.consequence
            // A failure that the end itself shows has no further effect.
            return failure.cause.packet != effect.packet && now &- failure.cause.unixMicroseconds <= longest
        }
    }

    /// Adds an entry for a request that got no response, unless the end that had asked has ended the link itself.
    private mutating func noteUnanswered(_ link: LinkStory, _ ending: LinkEnding) {
        for side in StorySide.allCases {
            guard let waiting = link.attributes.unanswered(side, name: { LinkEnd($0, isCentral: link.isCentral) })
            else {
                continue
            }
            let silence = now &- waiting.moment.time
            let answer = waiting.isIndication ? "confirmation" : "response"
            let text = "\(waiting.what), and "
            let isShort = silence < Self.transactionTimeout
            let duration = "for \(StoryWords.time(max(0, silence)))"
            switch ending {
            case _ where link.isAir:
                let isOwnEnd = isShort && ending.initiator == side
                let section = isOwnEnd ? nil : Self.transactionSection
                addEntry(isOwnEnd ? .note : .error, text + "no \(answer) was heard \(duration)", section: section)
            case .reported(_, side?) where isShort: addEntry(.note, text + "disconnects before the \(answer)")
            case .endOfCapture where isShort: addEntry(.note, text + "the capture ends before the \(answer)")
            default: addEntry(.error, text + "receives no \(answer) \(duration)", section: Self.transactionSection)
            }
        }
    }

    // MARK: The end itself

    /// Returns what failed with the end of a link; nil if nothing did, or something did before.
    private func failure(of link: LinkStory, _ ending: LinkEnding) -> StoryFailure? {
        switch ending {
        case .reported(let status, nil): return lost(link, status)
        case .reported(let status, let initiator?):
            if hasRecentFailure(link) { return nil }
            return unfinishedSecurity(link, status, initiator) ?? timeout(of: link)
                ?? ended(link, status, initiator) ?? shortcoming(of: link, ending)
        case .silent: return silent(link)
        case .endOfCapture, .evicted, .reset:
            if link.isAir, link.heard.far.count > 0, let lost = silent(link) { return lost }
            return pairingTimeout(of: link) ?? timeout(of: link) ?? shortcoming(of: link, ending)
        case .replaced: return nil
        }
    }

    /// Whether the end of a link follows from a failure of its own that is known already.
    private func hasRecentFailure(_ link: LinkStory) -> Bool {
        link.failures.list.contains {
            $0.connection == link.number && $0.weight == .insecure
                && now &- $0.cause.unixMicroseconds <= Self.consequence
        }
    }

    /// Returns the loss of a link that neither end has ended.
    private func lost(_ link: LinkStory, _ status: HCIStatus) -> StoryFailure {
        let text =
            switch status {
            case .connectionTimeout:
                "nothing was received from the peer for \(StoryWords.time(Int64(link.timeout) * 10_000)): it is out of "
                    + "range, switched off, or disturbed"
            case .terminatedByMICFailure:
                "an encrypted packet was not authentic, as if the keys of the two devices differ"
            case .connectionFailedToBeEstablished: "the peer did not respond to the connection request"
            case .linkLayerResponseTimeout: "the peer's link layer did not respond to a procedure"
            case .instantPassed: "the peer received a change of the link after the time at which it takes effect"
            default: "the link ended"
            }
        let attempted = status == .connectionFailedToBeEstablished ? "connecting to" : "keeping the connection to"
        let cause = evidence("\(text): \(status)", StoryWords.section(of: status.rawValue))
        return failure(.lost, attempted, cause, of: link, .connection)
    }

    /// Returns the loss of a link on the air that the central has kept up for a while without the peripheral.
    ///
    /// If both are silent at once, the sniffer may be what lost the link.
    private func silent(_ link: LinkStory) -> StoryFailure? {
        let (near, far) = (link.heard.near, link.heard.far)
        let shortest = Int64(link.timeout) * 10_000 * 7 / 10
        guard link.hasBeginning, near.count > 2 else { return nil }
        if far.count == 0 {
            // A sniffer that never hears the peripheral hears the central go on for longer (Core Vol 6 Part B 4.5.2).
            guard near.last.time &- link.begin <= Int64(link.interval ?? 0) * 1_250 * 10 else { return nil }
            let status = HCIStatus.connectionFailedToBeEstablished
            let text = "the peripheral did not respond to the connection request: \(status)"
            let cause = StoryEvidence(text, at: near.last, section: StoryWords.section(of: status.rawValue))
            return failure(.lost, "connecting to", cause, of: link, .connection)
        }
        let silence = near.last.time &- far.last.time
        guard silence >= shortest else { return nil }
        let status = HCIStatus.connectionTimeout
        let text = "the peripheral stopped responding to the central, for \(StoryWords.time(silence)): \(status)"
        let cause = StoryEvidence(text, at: far.last, section: StoryWords.section(of: status.rawValue))
        return failure(.lost, "keeping the connection to", cause, of: link, .connection)
    }

    // MARK: Procedures that do not end

    private func unfinishedSecurity(_ link: LinkStory, _ status: HCIStatus, _ initiator: StorySide) -> StoryFailure? {
        if let timeout = pairingTimeout(of: link) { return timeout }
        let who = Self.name(initiator, of: link)
        let section = StoryWords.section(of: status.rawValue)
        if link.pairing.last != nil {
            let cause = evidence("\(who) disconnected in the middle of the pairing: \(status)", section)
            return failure(.insecure, "pairing with", cause, of: link, .pairing)
        }
        guard link.encrypting != nil, initiator == .far else { return nil }
        let text = status == .pinOrKeyMissing ? "the peer has no key for the link" : "\(who) did not encrypt the link"
        let cause = evidence("\(text), and disconnected: \(status)", section)
        return failure(.insecure, "encrypting the link to", cause, of: link, .encryption)
    }

    /// Returns the failure of a pairing in which an end has waited for too long.
    private func pairingTimeout(of link: LinkStory) -> StoryFailure? {
        guard totals.drops == 0, link.isFollowed, let last = link.pairing.last,
            now &- last.moment.time >= Self.transactionTimeout
        else {
            return nil
        }
        let text = "\(Self.name(last.side.other, of: link)) did not go on within 30 s"
        let cause = StoryEvidence(text, at: last.moment, section: Self.pairingTimeoutSection)
        return failure(.insecure, "pairing with", cause, of: link, .pairing)
    }

    /// Returns the failure of a request that was not answered for 30 s.
    private func timeout(of link: LinkStory) -> StoryFailure? {
        guard totals.drops == 0, link.isFollowed else { return nil }
        for side in StorySide.allCases {
            guard let waiting = link.attributes.unanswered(side, name: { LinkEnd($0, isCentral: link.isCentral) }),
                now &- waiting.moment.time >= Self.transactionTimeout
            else { continue }
            let verb = waiting.isIndication ? "confirm" : "respond"
            let stray = waiting.stray.map { ", but sent \(Self.unreadable($0))" } ?? ""
            let text = "\(Self.name(side.other, of: link)) did not \(verb) within 30 s\(stray)"
            let cause = StoryEvidence(text, at: waiting.moment, section: Self.transactionSection)
            let attempted = Self.gerund(waiting.what, client: side, of: link)
            return failure(.unanswered, attempted, cause, of: link, waiting.redemption)
        }
        return nil
    }

    // MARK: Ends that a device has asked for

    private func ended(_ link: LinkStory, _ status: HCIStatus, _ initiator: StorySide) -> StoryFailure? {
        let who = Self.name(initiator, of: link)
        let section = StoryWords.section(of: status.rawValue)
        if let refused = link.setbacks.parameters, refused.client == initiator,
            now &- refused.cause.unixMicroseconds <= Self.parameterTimeout
        {
            var failure = failure(
                .refused,
                "changing the parameters of the connection to",
                refused.cause,
                of: link,
                .connection
            )
            failure.effect = evidence("\(who) disconnected: \(status)", section)
            return failure
        }
        let isPlain = status == .remoteUserTerminated || status == .localHostTerminated
        if !isPlain, initiator == .far || link.isAir {
            let cause = evidence("\(who) ended the connection: \(status)", section)
            return failure(.lost, "keeping the connection to", cause, of: link, .connection)
        }
        if let waiting = link.attributes.unanswered(initiator.other, name: { LinkEnd($0, isCentral: link.isCentral) }),
            !waiting.isIndication, initiator == .far || link.isAir, link.isFollowed
        {
            let cause = evidence("\(who) disconnected before it responded: \(status)", section)
            let attempted = Self.gerund(waiting.what, client: initiator.other, of: link)
            return failure(.unanswered, attempted, cause, of: link, waiting.redemption)
        }
        if let stray = unreadableResponse(on: link, to: initiator) {
            var failure = stray
            failure.effect = evidence("\(who) disconnected: \(status)", section)
            return failure
        }
        guard initiator == .far, link.isCentral == true, link.isBlank, now &- link.begin < Self.shortLink else {
            return nil
        }
        let text = "\(who) disconnected at once, before anything was exchanged: \(status)"
        return failure(.lost, "using the connection to", evidence(text, section), of: link, .connection)
    }

    /// Returns the failure of the last request of an end, if the response cannot be read.
    private func unreadableResponse(on link: LinkStory, to side: StorySide) -> StoryFailure? {
        guard totals.drops == 0, link.isFollowed,
            let waiting = link.attributes.unanswered(side, name: { LinkEnd($0, isCentral: link.isCentral) }),
            let stray = waiting.stray
        else {
            return nil
        }
        let text = "\(Self.name(side.other, of: link)) sent \(Self.unreadable(stray)) in place of the response"
        let cause = StoryEvidence(text, at: waiting.moment, section: Self.transactionSection)
        let attempted = Self.gerund(waiting.what, client: side, of: link)
        return failure(.unanswered, attempted, cause, of: link, waiting.redemption)
    }

    private static func unreadable(_ opcode: UInt8) -> String {
        "an unreadable PDU (opcode 0x\(String(opcode, radix: 16)))"
    }

    // MARK: Links that work, without use

    private func shortcoming(of link: LinkStory, _ ending: LinkEnding) -> StoryFailure? {
        if let refused = link.setbacks.mtu, link.attributes.uses == refused.uses, link.isUseless {
            let attempted = refused.client == .near ? "exchanging the MTU with" : "exchanging the MTU on request of"
            return failure(.refused, attempted, refused.cause, of: link, .connection)
        }
        if let (title, missing) = link.setbacks.service, link.attributes.uses == missing.uses, link.isUseless {
            let attempted = "finding the service \(title) of"
            return failure(.refused, attempted, missing.cause, of: link, .connection)
        }
        if let changes = link.attributes.serviceChanges {
            let time = StoryWords.time(changes.last &- changes.first)
            let text = "its services changed \(changes.count) times in \(time)"
            let moment = StoryMoment(packet: changes.packet, time: changes.first)
            let cause = StoryEvidence(text, at: moment, section: "Core Vol 3 Part G 7.1")
            return failure(.refused, "using the services of", cause, of: link, .connection)
        }
        guard let subscription = link.attributes.subscription, !link.attributes.hasValues, link.missing == 0,
            link.unreadable == 0, now &- subscription.moment.time >= Self.subscriptionTimeout
        else { return nil }
        let time = StoryWords.time(now &- subscription.moment.time)
        let cause = StoryEvidence("no value was notified in \(time)", at: subscription.moment)
        return failure(.fruitless, "following \(subscription.title) of", cause, of: link, .connection)
    }

    // MARK: What worked

    private mutating func addDeeds(of link: LinkStory, _ ending: LinkEnding) {
        deeds.requests += link.attributes.operations
        deeds.values += link.attributes.valueCount
        guard deeds.first == nil || link.number < deeds.first?.connection ?? 0 else { return }
        let duration = StoryWords.time(now &- link.begin)
        let end =
            switch ending {
            case .reported(_, let side?): "\(Self.name(side, of: link)) disconnected after \(duration)"
            case .endOfCapture: "still connected at the end of the capture"
            case .silent: "not heard any more after \(duration)"
            default: "connected for \(duration)"
            }
        let peer = link.peer.map(book.label) ?? "a device"
        deeds.first = (link.number, link.beginning(peer), end)
    }
}

extension LinkEnding {
    /// The reason that was reported.
    var status: HCIStatus? {
        if case .reported(let status, _) = self { status } else { nil }
    }
}

extension LinkStory {
    /// Whether the capture has all requests and responses of the link since the first that it has.
    var isFollowed: Bool { !isAir || hasBeginning && missing == 0 && doubtful == 0 && !isEncrypted }

    /// Whether nothing was exchanged, as far as the capture tells.
    var isBlank: Bool {
        isUseless && attributes.operations == 0 && pairing.method == nil
    }

    /// Whether the link was of no use, as far as the capture tells.
    var isUseless: Bool {
        hasBeginning && !isEncrypted && !attributes.hasValues && unreadable == 0 && doubtful == 0 && missing == 0
            && !usesChannels
    }

    /// Returns how the link came about.
    fileprivate func beginning(_ peer: String) -> String {
        guard hasBeginning else { return "the capture begins in the middle of a connection to \(peer)" }
        if isAir { return "a central connected to \(peer)" }
        return isCentral == true ? "this device connected to \(peer)" : "\(peer) connected to this device"
    }
}
