import ATT
import AssignedNumbers
import BluetoothTypes

/// The attribute protocol of a link: requests with their responses, values that are sent unasked, and the tables.
struct AttributeStory: Sendable {
    /// An event of the attribute protocol.
    struct News: Sendable {
        var kind: StoryEntry.Kind
        var text: StoryText
        var value: StoryValue?
        var section: String?
        var latency: Int64?
    }

    /// A response that a verdict needs.
    enum Answer: Sendable {
        case success(ATTOpcode, handle: UInt16?)
        /// An error that is no part of the procedure, with the request in words.
        case refused(ATTOpcode, handle: UInt16?, ATTErrorCode, what: String)
        /// The server has no larger MTU, or does not know the request for one.
        case refusedMTU
        /// The search for a service has found none.
        case notFound(BluetoothUUID)
    }

    /// A request or an indication that has no response yet.
    struct Waiting: Sendable {
        let what: String
        let moment: StoryMoment
        let redemption: StoryFailure.Redemption
        var isIndication = false
        /// See ``StoryRequest/stray``.
        var stray: UInt8?
    }

    /// A subscription to notifications.
    struct Subscription: Sendable {
        let title: String
        let moment: StoryMoment
    }

    private struct Attribute: Sendable {
        let title: String
        let type: BluetoothUUID?
    }

    /// A kind of values that arrive without a request each.
    struct Stream: Hashable, Sendable {
        var title: String
        var count = 0
        var octets = 0
        var first: Int64
        var last: Int64
        /// Whether these are indications of Service Changed, and the first packet with one.
        var isServiceChanged = false
        var packet = 0
    }

    /// Whether only errors and the MTU are news.
    var isBrief = false
    /// Whether PDUs are missing, so that the first one of a kind that arrives need not be the first one.
    var isIncomplete = false
    /// The tables of the servers at both ends.
    var books = PerSide(AttributeBook())
    private var pending = PerSide<StoryRequest?>(nil)
    private var refused = PerSide<StoryRequest?>(nil)
    /// The indications that are not confirmed, with the times at which they were sent.
    private var indication = PerSide<(sent: Int64?, handle: UInt16, moment: StoryMoment)?>(nil)
    /// What the last PDU answers, if a verdict needs it. Successes are told if `watchesSuccess` is set.
    private(set) var answer: Answer?
    var watchesSuccess = false
    /// The first subscription whose values are expected soon.
    private(set) var subscription: Subscription?
    /// Whether a value was notified or indicated.
    private(set) var hasValues = false
    /// The requests that have succeeded and that neither discover nor negotiate.
    private(set) var uses = 0
    private var streamTable = StreamTable()
    /// The attributes that the story has used, as the tables describe them so far.
    private var used = PerSide<[UInt16: Attribute]>([:])
    private(set) var errors = 0
    private(set) var retries = 0
    private(set) var operations = 0
    private(set) var latencies: (sum: Int64, longest: Int64, count: Int) = (0, 0, 0)
    private(set) var mtus = PerSide<UInt16?>(nil)
    /// The MTU, once both ends have told theirs.
    private(set) var mtu: Int?

    /// The values that were sent without a request each.
    var valueCount: Int { streamTable.streams.reduce(0) { $0 + $1.count } }

    /// The indications of Service Changed, if there are so many that a client does little else than discover: four or
    /// more, a minute apart at most.
    var serviceChanges: Stream? {
        streamTable.streams.first {
            $0.isServiceChanged && $0.count >= 4 && ($0.last &- $0.first) / Int64($0.count - 1) <= 60_000_000
        }
    }

    /// The streams of values, the most frequent first.
    var streams: [Stream] { streamTable.streams.sorted { ($1.count, $0.title) < ($0.count, $1.title) } }

    /// - Parameters:
    ///   - time: The time at which it was received.
    ///   - sent: The time at which it was first sent; nil if that is not known.
    mutating func receive(
        _ pdu: PacketBuffer,
        from side: StorySide,
        at time: Int64,
        sentAt sent: Int64?,
        packet: Int,
        name: (StorySide) -> LinkEnd
    ) -> News? {
        answer = nil
        guard let first = pdu.octet(at: 0) else { return nil }
        let opcode = ATTOpcode(rawValue: first)
        switch opcode.kind {
        case .request:
            if pending[side.other] != nil, (try? ATTPDU(reading: pdu)) == nil { pending[side.other]?.stray = first }
            pending[side] = StoryRequest(pdu, opcode, at: sent, StoryMoment(packet: packet, time: time))
            return nil
        case .response: return respond(pdu, opcode, client: side.other, sent, name)
        case .indication:
            let moment = StoryMoment(packet: packet, time: time)
            indication[side] = (sent, pdu.word(at: 1) ?? 0, moment)
            return stream(pdu, opcode, side, moment, name)
        case .notification, .command: return stream(pdu, opcode, side, StoryMoment(packet: packet, time: time), name)
        case .confirmation:
            add(latency: Self.latency(from: indication[side.other]?.sent, to: sent))
            indication[side.other] = nil
            return nil
        }
    }

    /// Returns the request that never got its response, or the indication without a confirmation, at the end of the
    /// link.
    func unanswered(_ side: StorySide, name: (StorySide) -> LinkEnd) -> Waiting? {
        guard let request = pending[side] else {
            return indication[side].map { Waiting(indicationOf: $0.handle, name(side), $0.moment) }
        }
        let target = request.handle.map { books[side.other].title($0) } ?? "an attribute"
        return Waiting(
            what: describe(request, target, side, name).description,
            moment: request.moment,
            redemption: .response(request.opcode, handle: request.handle),
            stray: request.stray
        )
    }

    /// Whether an end waits for the response to its request.
    func isWaiting(_ side: StorySide) -> Bool { pending.withValue(side) { $0 != nil } }

    /// Forgets the requests and indications whose answers may have been missed.
    mutating func forgetPending() {
        (pending, refused, indication) = (PerSide(nil), PerSide(nil), PerSide(nil))
        subscription = nil
    }

    // MARK: Responses

    private mutating func respond(
        _ pdu: PacketBuffer,
        _ opcode: ATTOpcode,
        client: StorySide,
        _ time: Int64?,
        _ name: (StorySide) -> LinkEnd
    ) -> News? {
        if opcode == .errorResponse { errors += 1 }
        guard let request = pending.change(client, { $0.take() }) else { return nil }
        guard Self.isReadable(pdu, opcode) else { return missRead(request, pdu, opcode, client, name) }
        operations += 1
        let latency = Self.latency(from: request.time, to: time)
        add(latency: latency)
        if opcode == .errorResponse { return refuse(request, pdu, client, latency, name) }
        let isRetry = refused.change(client) { $0.take() }.map(request.matches) ?? false
        if isRetry { retries += 1 }
        succeed(request, client, name)
        learn(request, pdu, server: client.other)
        guard !isBrief || request.opcode == .exchangeMTURequest, let told = addEntry(request, pdu, client, name) else {
            return nil
        }
        var news = told
        news.latency = latency
        if isRetry { news.text.append(", tried again") }
        return news
    }

    /// Whether a response has the format of its kind. Any value that is read has.
    private static func isReadable(_ pdu: PacketBuffer, _ opcode: ATTOpcode) -> Bool {
        opcode == .readResponse || opcode == .readBlobResponse || (try? ATTPDU(reading: pdu)) != nil
    }

    /// Keeps a request whose response cannot be read, since most clients go on waiting for another one. What there is of
    /// a table is learned all the same.
    private mutating func missRead(
        _ request: StoryRequest,
        _ pdu: PacketBuffer,
        _ opcode: ATTOpcode,
        _ client: StorySide,
        _ name: (StorySide) -> LinkEnd
    ) -> News? {
        var waiting = request
        waiting.stray = opcode.rawValue
        pending[client] = waiting
        if request.isDiscovery { learn(request, pdu, server: client.other) }
        let what = describe(request, attribute(of: request, client.other).title, client, name)
        let response = StoryWords.count(pdu.count, "octet")
        return News(kind: .error, text: StoryText("\(what), and the response of \(response) cannot be read"))
    }

    private mutating func succeed(_ request: StoryRequest, _ client: StorySide, _ name: (StorySide) -> LinkEnd) {
        if watchesSuccess { answer = .success(request.opcode, handle: request.handle) }
        guard request.isShown else { return }
        uses += 1
        guard subscription == nil, request.opcode == .writeRequest, request.rest.word(at: 0).map({ $0 & 1 }) == 1,
            let handle = request.handle,
            books.withValue(client.other, { $0.type(of: handle) }) == AttributeBook.clientConfiguration,
            let owner = books[client.other].characteristic(around: handle), owner.uuid != AttributeBook.batteryLevel
        else { return }
        subscription = Subscription(title: AssignedNumbers.title(of: owner.uuid), moment: request.moment)
    }

    private mutating func refuse(
        _ request: StoryRequest,
        _ pdu: PacketBuffer,
        _ client: StorySide,
        _ latency: Int64?,
        _ name: (StorySide) -> LinkEnd
    ) -> News? {
        let code = pdu.octet(at: 4) ?? 0
        let error = ATTErrorCode(rawValue: code)
        // The end of a discovery is no error (Core Vol 3 Part G 4.4.1).
        if error == .attributeNotFound, request.isDiscovery {
            let uuid = request.opcode == .findByTypeValueRequest ? request.rest.suffix(after: 4) : []
            guard books.withValue(client.other, { $0.isEmpty }) else { return nil }
            answer = BluetoothUUID(littleEndian: uuid).map { .notFound($0) }
            return nil
        }
        refused[client] = request
        let what = describe(request, attribute(of: request, client.other).title, client, name)
        if request.opcode == .exchangeMTURequest {
            answer = .refusedMTU
        } else if !request.expects(error) {
            answer = .refused(request.opcode, handle: request.handle, error, what: what.description)
        }
        return News(
            kind: .error,
            text: StoryText("\(what), which is refused: \(StoryWords.attributeError(code))"),
            section: StoryWords.section(ofAttributeError: code),
            latency: latency
        )
    }

    private static func latency(from begin: Int64?, to end: Int64?) -> Int64? {
        guard let begin, let end else { return nil }
        return end &- begin
    }

    private mutating func add(latency: Int64?) {
        guard let latency else { return }
        latencies.sum &+= max(0, latency)
        latencies.longest = max(latencies.longest, latency)
        latencies.count += 1
    }

    private mutating func learn(_ request: StoryRequest, _ response: PacketBuffer, server: StorySide) {
        guard request.isDiscovery else {
            if request.opcode == .exchangeMTURequest { learnMTU(request, response, server: server) }
            return
        }
        used.change(server) { $0.removeAll(keepingCapacity: true) }
        switch request.opcode {
        case .readByGroupTypeRequest: books[server].addGroups(response)
        case .findByTypeValueRequest:
            guard let uuid = BluetoothUUID(littleEndian: request.rest.suffix(after: 4)) else { return }
            books[server].addServices(response, uuid: uuid)
        case .readByTypeRequest where request.type == AttributeBook.characteristic:
            books[server].addCharacteristics(response)
        case .findInformationRequest: books[server].addTypes(response)
        default: break
        }
    }

    private mutating func learnMTU(_ request: StoryRequest, _ response: PacketBuffer, server: StorySide) {
        guard let a = request.handle, let b = response.word(at: 1) else { return }
        (mtus[server.other], mtus[server], mtu) = (a, b, max(23, Int(min(a, b))))
    }

    private mutating func addEntry(
        _ request: StoryRequest,
        _ response: PacketBuffer,
        _ client: StorySide,
        _ name: (StorySide) -> LinkEnd
    ) -> News? {
        guard request.isShown else {
            guard request.opcode == .exchangeMTURequest else { return nil }
            let (a, b) = (request.handle ?? 0, response.word(at: 1) ?? 0)
            let offers = "\(name(client)) offers \(a), \(name(client.other)) \(b)"
            return News(kind: .mtu, text: StoryText("MTU \(mtu ?? 23): \(offers)"))
        }
        let attribute = attribute(of: request, client.other)
        var news = News(kind: .operation, text: describe(request, attribute.title, client, name))
        switch request.opcode {
        case .readRequest, .readBlobRequest: news.value = StoryValue(response.suffix(after: 1), attribute.type)
        case .readByTypeRequest: news.value = first(of: response, request.type)
        case .writeRequest:
            guard subscription(request, client.other) == nil else { return news }
            news.value = StoryValue(request.rest, attribute.type)
        case .prepareWriteRequest, .executeWriteRequest, .readMultipleRequest, .readMultipleVariableRequest: break
        default: return nil
        }
        return news
    }

    // MARK: Values

    private mutating func stream(
        _ pdu: PacketBuffer,
        _ opcode: ATTOpcode,
        _ side: StorySide,
        _ moment: StoryMoment,
        _ name: (StorySide) -> LinkEnd
    ) -> News? {
        let handle = opcode == .multipleHandleValueNotification ? 0 : pdu.word(at: 1) ?? 0
        let server = opcode.kind == .command ? side.other : side
        let key = StreamTable.Key(opcode: pdu[0], handle: handle, side: side)
        let octets = max(0, pdu.count - 3)
        guard !streamTable.count(octets, of: key, at: moment.time), streamTable.hasRoom else { return nil }
        let verb =
            switch opcode.kind {
            case .command: "writes without response to"
            case .indication: "indicates"
            default: "notifies"
            }
        let title = "\(name(side)) \(verb) \(handle == 0 ? "several values" : books[server].title(handle))"
        var stream = Stream(title: title, count: 1, octets: octets, first: moment.time, last: moment.time)
        let type = books.withValue(server) { $0.type(of: handle) }
        (stream.isServiceChanged, stream.packet) = (type == AttributeBook.serviceChanged, moment.packet)
        if opcode.kind != .command, !stream.isServiceChanged { hasValues = true }
        streamTable.add(stream, key)
        guard !isBrief else { return nil }
        let first = isIncomplete ? "" : " for the first time"
        let shown = handle == 0 ? nil : StoryValue(pdu.suffix(after: 3), type)
        return News(kind: .notification, text: StoryText(title + first), value: shown)
    }

    private func first(of response: PacketBuffer, _ type: BluetoothUUID?) -> StoryValue {
        guard let size = response.octet(at: 1).map(Int.init), size >= 2 else { return .malformed }
        return StoryValue(response.suffix(after: 4).prefix(upTo: size - 2), type)
    }

    private mutating func attribute(of request: StoryRequest, _ server: StorySide) -> Attribute {
        guard let handle = request.handle else { return Attribute(title: "an attribute", type: nil) }
        if let known = used.withValue(server, { $0[handle] }) { return known }
        let attribute = books.withValue(server) { Attribute(title: $0.title(handle), type: $0.type(of: handle)) }
        used.change(server) { known in
            if known.count < StoryLimits.attributes { known[handle] = attribute }
        }
        return attribute
    }

    private func describe(
        _ request: StoryRequest,
        _ target: String,
        _ client: StorySide,
        _ name: (StorySide) -> LinkEnd
    ) -> StoryText {
        let who = name(client)
        switch request.opcode {
        case .readRequest: return StoryText(who, .reads, target)
        case .exchangeMTURequest: return StoryText("\(who) asks for the MTU")
        case .readBlobRequest:
            return StoryText(who, .reads, target, " from offset \(request.rest.word(at: 0) ?? 0)")
        case .readByTypeRequest:
            return StoryText(who, .reads, request.type.map { AssignedNumbers.title(of: $0) } ?? "by type")
        case .writeRequest:
            if let subscription = subscription(request, client.other) { return StoryText("\(who) \(subscription)") }
            return StoryText(who, .writes, target)
        case .prepareWriteRequest:
            let length = StoryWords.count(request.count - 5, "octet")
            return StoryText("\(who) prepares a write of \(length) to \(target)")
        case .executeWriteRequest:
            let isCancelled = request.flags == 0
            return StoryText("\(who) \(isCancelled ? "cancels" : "executes") prepared writes")
        case .readMultipleRequest, .readMultipleVariableRequest: return StoryText("\(who) reads several attributes")
        case .readByGroupTypeRequest, .findByTypeValueRequest: return StoryText("\(who) looks for services")
        case .findInformationRequest: return StoryText("\(who) looks for descriptors")
        default: return StoryText("\(who) sends the request \(request.opcode)")
        }
    }

    /// Returns the words for a write to a Client Characteristic Configuration (Core Vol 3 Part G 3.3.3.3).
    private func subscription(_ request: StoryRequest, _ server: StorySide) -> String? {
        guard let handle = request.handle,
            books.withValue(server, { $0.type(of: handle) }) == AttributeBook.clientConfiguration,
            let bits = request.rest.word(at: 0), let owner = books[server].characteristic(around: handle)
        else { return nil }
        let title = AssignedNumbers.title(of: owner.uuid)
        return bits == 0
            ? "unsubscribes from \(title)"
            : "subscribes to \(bits & 2 == 2 ? "indications" : "notifications") of \(title)"
    }
}

/// The streams of values of a link, up to a bound.
///
/// Most values belong to the stream of the value before them, so that one is found without a search.
private struct StreamTable: Sendable {
    struct Key: Hashable, Sendable {
        let opcode: UInt8
        let handle: UInt16
        let side: StorySide
    }

    private(set) var streams: [AttributeStory.Stream] = []
    private var places: [Key: Int] = [:]
    private var last: (key: Key, place: Int)?

    var hasRoom: Bool { streams.count < StoryLimits.subscriptions }

    /// Counts a value of a stream.
    ///
    /// - Returns: Whether the stream is known.
    mutating func count(_ octets: Int, of key: Key, at time: Int64) -> Bool {
        if last?.key != key {
            guard let place = places[key] else { return false }
            last = (key, place)
        }
        guard let place = last?.place else { return false }
        streams[place].count += 1
        streams[place].octets += octets
        streams[place].last = time
        return true
    }

    mutating func add(_ stream: AttributeStory.Stream, _ key: Key) {
        places[key] = streams.count
        streams.append(stream)
    }
}

extension AttributeStory.Waiting {
    fileprivate init(indicationOf handle: UInt16, _ server: LinkEnd, _ moment: StoryMoment) {
        self.init(
            what: "\(server) indicates \(StoryWords.handle(handle))",
            moment: moment,
            redemption: .response(.handleValueIndication, handle: handle),
            isIndication: true
        )
    }
}
