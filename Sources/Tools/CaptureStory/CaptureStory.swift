import ATT
import AppAdvice
import BluetoothTypes
import HCI

/// The story of a capture: a machine that turns its records into entries in words, and keeps what the end needs.
///
/// Records go in, entries come out; there is no I/O. Memory is bounded by ``StoryLimits``, whatever the length of the
/// capture.
package struct CaptureStory: Sendable {
    /// The state of an adapter of a capture of HCI.
    struct Adapter: Sendable {
        var attempt: (peer: BluetoothAddress?, time: Int64, count: Int, packet: Int)?
        var advertisingSince: Int64?
        var activity = AdapterActivity()
        /// The advertising data of a device, as far as it has arrived.
        var fragments = RecencyTable<UInt64, PacketBuffer>(limit: 64)
    }

    package internal(set) var totals = StoryTotals()
    /// The links that have ended, in the order of their ends.
    package internal(set) var links: [LinkSummary] = []

    var book = DeviceBook()
    var open = OpenLinks()
    var adapters: [UInt32: Adapter] = [:]
    var servers = RecencyTable<UInt64, AttributeBook>(limit: StoryLimits.servers)
    private(set) var entries: [StoryEntry] = []
    var now: Int64 = 0
    var offset: UInt64 = 0
    /// The advice for the hosts of the capture.
    var guidance = CaptureAdvice()
    /// How the link of the current frame ends with it.
    var ending: LinkEnding?
    /// The links that have ended and whose handle or access address no other link has had since. What arrives for them
    /// afterwards, such as an acknowledgement, begins no link.
    var ended = RecencyTable<OpenLinks.Key, Bool>(limit: StoryLimits.openLinks)
    /// What failed, and nothing has made up for so far.
    var failures = StoryFailures(limit: StoryLimits.failures)
    var deeds = StoryDeeds()
    /// The link that the entries are about.
    var current: Int?
    /// Whether entries of a brief story are enough, so that no others are made.
    private let isBrief: Bool

    /// - Parameter isBrief: Whether entries of a brief story are enough (``StoryEntry/Kind/isBrief``).
    package init(isBrief: Bool = false) {
        self.isBrief = isBrief
    }

    /// The devices, in the order of their first packets.
    package var devices: [StoryDevice] { book.devices }
    /// The advice that the capture supports, in the order in which its causes came up.
    package var advice: [Advice] { guidance.advice }
    /// Returns the time of an advice, in microseconds since the Unix epoch.
    package func time(of advice: Advice) -> Int64 { guidance.time(of: advice) }
    /// The devices that are forgotten because there were too many.
    package var forgottenDevices: Int { book.forgotten }

    /// Receives a record, in the order of the capture.
    ///
    /// After the next record the story keeps none of its octets, which may share the storage of a piece of the file.
    ///
    /// - Returns: The entries that follow from it.
    package mutating func receive(_ record: CaptureRecord) -> [StoryEntry] {
        if !entries.isEmpty { entries.removeAll(keepingCapacity: true) }
        now = max(-StoryLimits.time, min(StoryLimits.time, record.unixMicroseconds))
        (offset, current) = (record.offset, nil)
        totals.records += 1
        totals.begin = totals.begin ?? now
        totals.end = max(totals.end, now)
        totals.drops = max(totals.drops, record.drops)
        guidance.pass(to: now)
        switch record.content {
        case .hci(let packet, let direction) where record.omitted == 0: receive(packet, direction, record.adapter)
        case .hci(let packet, _):
            count(packet.kind)
            totals.malformed += 1
        case .frame(let linkType, let octets):
            totals.frames += 1
            receive(frame: octets, linkType: linkType, adapter: record.adapter)
        case .monitor, .log: totals.others += 1
        }
        return entries
    }

    /// Ends the story.
    ///
    /// - Returns: The entries about links that are still there.
    package mutating func finish() -> [StoryEntry] {
        entries.removeAll()
        guidance.finish()
        for key in open.keys {
            guard let link = open[key] else { continue }
            let silence = now &- link.reception.lastFrame
            let timeout = Int64(link.timeout) * 10_000
            guard link.isAir, timeout > 0, silence > timeout else {
                close(key, .endOfCapture)
                continue
            }
            // Both ends gave it up then, while the capture went on.
            let end = now
            now = link.reception.lastFrame &+ timeout
            close(key, .silent)
            now = end
        }
        finishAdapters()
        return entries
    }

    // MARK: Entries

    mutating func addEntry(_ kind: StoryEntry.Kind, _ text: String, section: String? = nil) {
        addEntry(AttributeStory.News(kind: kind, text: StoryText(text), section: section))
    }

    private mutating func addEntry(_ news: AttributeStory.News) {
        guard !isBrief || news.kind.isBrief else { return }
        entries.append(
            StoryEntry(
                unixMicroseconds: now,
                offset: offset,
                connection: current,
                kind: news.kind,
                words: news.text,
                content: news.value,
                section: news.section,
                latency: news.latency
            )
        )
    }

    /// Tells that something failed with an error code of the controller.
    mutating func addError(_ what: String, _ status: UInt8) {
        let text = "\(what): \(HCIStatus(rawValue: status))"
        addEntry(.error, text, section: StoryWords.section(of: status))
    }

    // MARK: Links

    /// Opens a link in place of an earlier one with the same key, and numbers it.
    mutating func openLink(_ key: OpenLinks.Key, peer: BluetoothAddress?, _ configure: (inout LinkStory) -> Void) {
        if open[key] != nil { close(key, .replaced) }
        ended.removeValue(for: key)
        if open.count >= StoryLimits.openLinks, let idle = open.leastRecent { close(idle, .evicted) }
        totals.connections += 1
        var link = LinkStory(number: totals.connections, at: now)
        link.peer = peer
        if let peer {
            book.addConnected(peer, at: now)
            if let known = servers[book.identity(of: peer).value] { link.attributes.books.far = known }
        }
        configure(&link)
        current = link.number
        inheritFailures(&link)
        open.add(link, key)
        if link.isCentral == true, !link.isAir, let peer {
            guidance.connected(link.number, to: book.identity(of: peer), book.name(peer), key.adapter)
        }
    }

    /// Ends a link, and keeps its summary.
    mutating func close(_ key: OpenLinks.Key, _ ending: LinkEnding) {
        guard var link = open.remove(key) else { return }
        current = link.number
        guidance.disconnected(link.number, link.attributes.books.far)
        if let reason = ending.reason {
            (link.end, link.reason) = (now, reason)
            ended.set(true, for: key)
        }
        judge(&link, ending)
        if let peer = link.peer, !link.attributes.books.far.isEmpty {
            servers.set(link.attributes.books.far, for: book.identity(of: peer).value)
        }
        if links.count < StoryLimits.summaries {
            links.append(LinkSummary(link, label: link.peer.map(book.label), endOfCapture: now))
        }
    }

    /// Changes a link, and creates one that the capture has no beginning of.
    mutating func withLink(_ key: OpenLinks.Key, _ body: (inout LinkStory, inout CaptureStory) -> Void) {
        if !open.contains(key) {
            guard ended[key] == nil else { return }
            openLink(key, peer: nil) { link in
                link.hasBeginning = false
                link.isAir = key.isAir
                if key.isAir { link.isCentral = true }
            }
            // A sniffer may also have missed the request for the link.
            let beginning = key.isAir ? "whose beginning is missing" : "that was there before the capture began"
            addEntry(.connected, "a connection \(beginning)")
        }
        // Outside of its table for the time of the change, so that nothing is copied.
        var link: [LinkStory] = []
        open.exchange(key, &link)
        current = link.isEmpty ? nil : link[0].number
        if !link.isEmpty { body(&link[0], &self) }
        open.exchange(key, &link)
    }

    // MARK: L2CAP

    mutating func receive(_ payload: PacketBuffer, isStart: Bool, from side: StorySide, on link: inout LinkStory) {
        let silence = now &- link.lastPacket
        if silence > StoryLimits.gap {
            link.gaps += 1
            addEntry(.gap, "no data \(link.isAir ? "heard " : "")for \(StoryWords.time(silence))")
        }
        link.lastPacket = max(link.lastPacket, now)
        link.traffic.change(side) { [now] in $0.add(payload.count, at: now) }
        let complete = link.parts.change(side) { $0.add(payload, isStart: isStart) }
        guard let pdu = complete, let channel = pdu.word(at: 2) else { return }
        let content = pdu.suffix(after: 4)
        switch channel {
        case 0x0004: receive(attribute: content, from: side, on: &link)
        case 0x0005: receive(signal: content, from: side, on: &link)
        case 0x0006: receive(security: content, from: side, on: &link)
        default: break
        }
    }

    private mutating func receive(attribute pdu: PacketBuffer, from side: StorySide, on link: inout LinkStory) {
        totals.attributePDUs += 1
        let opcode = ATTOpcode(rawValue: pdu.octet(at: 0) ?? 0)
        if opcode == .errorResponse { totals.attributeErrors += 1 }
        let isCentral = link.isCentral
        link.attributes.isBrief = isBrief
        link.attributes.isIncomplete = link.isAir && (link.missing > 0 || !link.hasBeginning)
        let time = link.isTimely ? now : nil
        link.attributes.watchesSuccess = !link.failures.isEmpty
        let packet = totals.records
        let news = link.attributes.receive(pdu, from: side, at: now, sentAt: time, packet: packet) {
            LinkEnd($0, isCentral: isCentral)
        }
        if let answer = link.attributes.answer { judge(answer, from: side, on: &link) }
        if let news {
            if news.kind == .mtu, let mtu = link.attributes.mtu { link.mtu = mtu }
            if news.kind == .error || news.kind == .mtu { link.mark(news.kind, news.text.description, at: now) }
            addEntry(news)
        }
        guidance.receive(pdu, isFromClient: side == .near, link.number, link.attributes.books.far)
    }

    private mutating func receive(security pdu: PacketBuffer, from side: StorySide, on link: inout LinkStory) {
        let moment = StoryMoment(packet: totals.records, time: now)
        for news in link.pairing.receive(pdu, from: side, moment, name: link.name(side)) {
            switch news {
            case .text(let text): addEntry(.pairing, text)
            case .failed(let text):
                link.mark(.error, text, at: now)
                addEntry(.error, text, section: StoryWords.pairingFailedSection)
                pairingFailed(pdu, from: side, on: &link)
            case .identity(let key, let identity):
                for device in book.add(key, of: identity) { addIdentity(device) }
            }
        }
    }

    mutating func addIdentity(_ device: StoryDevice) {
        guard let identity = device.identity else { return }
        addEntry(.device, "\(device.address) is a private address of \(book.label(identity))")
    }

    private mutating func receive(signal pdu: PacketBuffer, from side: StorySide, on link: inout LinkStory) {
        guard let code = pdu.octet(at: 0), pdu.count >= 2 else { return }
        let data = pdu.suffix(after: 4)
        let who = link.name(side)
        switch code {
        case 0x12, 0x14, 0x17, 0x19:
            if code != 0x12, let psm = data.word(at: 0) { guidance.opensChannel(link.number, psm: psm) }
            if code == 0x14 { link.channelPSM[side] = data.word(at: 0) }
            guard let text = Self.request(code, data) else { return }
            addEntry(code == 0x12 ? .parameters : .channel, "\(who) asks for \(text)")
        case 0x01, 0x13, 0x15, 0x18, 0x1A:
            respond(to: code, data, who)
            judge(signal: code, data, from: side, on: &link)
        case 0x06: addEntry(.channel, "\(who) closes the channel \(StoryWords.handle(data.word(at: 0) ?? 0))")
        default: break
        }
    }

    private static func request(_ code: UInt8, _ data: PacketBuffer) -> String? {
        switch code {
        case 0x12:
            guard let least = data.word(at: 0), let most = data.word(at: 2), let latency = data.word(at: 4),
                let timeout = data.word(at: 6)
            else { return nil }
            let interval = "\(StoryWords.time(Int64(least) * 1_250)) to \(StoryWords.time(Int64(most) * 1_250))"
            return "an interval of \(interval), latency \(latency), timeout \(StoryWords.time(Int64(timeout) * 10_000))"
        case 0x14, 0x17:
            guard let psm = data.word(at: 0) else { return nil }
            return psm == 0x27 ? "an enhanced ATT bearer" : "a channel to PSM \(StoryWords.handle(psm))"
        default: return nil
        }
    }

    private mutating func respond(to code: UInt8, _ data: PacketBuffer, _ who: String) {
        switch code {
        case 0x01:
            addEntry(.error, "\(who) does not understand a signalling command", section: "Core Vol 3 Part A 4.1")
        case 0x13:
            let isAccepted = data.word(at: 0) == 0
            let text = "\(who) \(isAccepted ? "accepts" : "rejects") the parameters"
            addEntry(isAccepted ? .parameters : .error, text, section: isAccepted ? nil : "Core Vol 3 Part A 4.21")
        case 0x15, 0x18:
            let result = data.word(at: code == 0x15 ? 8 : 6) ?? 0
            guard result != 0 else { return addEntry(.channel, "\(who) opens the channel") }
            let section = code == 0x15 ? "Core Vol 3 Part A 4.23" : "Core Vol 3 Part A 4.26"
            addEntry(.error, "\(who) refuses the channel: result \(StoryWords.handle(result))", section: section)
        default: break
        }
    }

    mutating func count(_ kind: HCIPacket.Kind) {
        switch kind {
        case .command: totals.commands += 1
        case .event: totals.events += 1
        case .acl, .synchronous, .isochronous: totals.dataPackets += 1
        }
    }
}

/// The bounds of what a story remembers, so that the length of a capture does not matter.
///
/// Where a bound is reached, the story forgets what has been silent the longest, or counts without details.
package enum StoryLimits {
    /// The devices by address. The one that was seen least recently is forgotten.
    package static let devices = 1_024
    package static let keys = 64
    /// The links that are open at the same time. The one that was silent the longest is treated as ended.
    package static let openLinks = 256
    /// The links with a summary at the end. Further ones are only counted.
    package static let summaries = 1_000
    /// The attributes that are known of a server.
    package static let attributes = 512
    /// The servers whose attributes are remembered after the link has ended.
    package static let servers = 64
    /// The attributes of a link that sent values unasked, with their counts.
    package static let subscriptions = 64
    package static let marks = 64
    /// The failures of a link, and of a capture, that nothing has made up for. Further ones are only counted.
    package static let linkFailures = 8
    package static let failures = 64
    /// The adapters of a capture that have a state.
    package static let adapters = 16
    /// The longest L2CAP PDU: a length of two octets, and the header (Core Vol 3 Part A 3.1).
    package static let longestPDU = 65_535 + 4
    /// The distance of a time from the Unix epoch, in microseconds: 4,567 years. A file may claim any time; within this
    /// bound, ten times the difference of two times still fits.
    package static let time = Int64.max / 64
    /// The silence of a link that is worth an entry, in microseconds.
    package static let gap: Int64 = 5_000_000
}
