import BluetoothTypes
import LinkLayer

/// Replaces what is private in frames of the LE link layer.
///
/// Access addresses, sequence numbers and the parameters of links stay, so that readers follow the same links. What is
/// encrypted becomes other octets that no reader takes for a packet.
struct AirRedactor: Sendable {
    /// The treatment of the payload of a frame.
    enum Outcome: Sendable {
        /// It is replaced by this one.
        case payload([UInt8])
        /// It is a fragment of an L2CAP PDU, which has to be complete first.
        case fragment(from: StorySide, isStart: Bool)
        /// It is sent again, and has the replacement of the first time.
        case repeated(from: StorySide)
    }

    struct Key: Hashable, Sendable {
        let adapter: UInt32
        let accessAddress: UInt32
    }

    private struct Link: Sendable {
        /// The initial value of the CRC, if the capture holds the beginning of the link.
        var initial: UInt32?
        var reception: AirReception
    }

    private static let maximumTrains = 256

    private var links = RecencyTable<Key, Link>(limit: StoryLimits.openLinks)
    /// The trains of periodic advertising, with the initial values of their CRC.
    private var trains = RecencyTable<Key, UInt32>(limit: Self.maximumTrains)
    private var advertising = AdvertisingRedactor()

    /// Receives a frame, in the order of the capture.
    ///
    /// - Returns: The outcome for its payload, the initial value of its CRC, if that is known, and whether frames of
    ///   its link are missing before it.
    mutating func receive(
        _ frame: AirFrame,
        adapter: UInt32,
        at time: Int64,
        _ pseudonyms: inout Pseudonyms
    ) -> (outcome: Outcome, initial: UInt32?, followsGap: Bool) {
        let key = Key(adapter: adapter, accessAddress: frame.accessAddress)
        let isPrimary = frame.accessAddress == AirFrame.advertisingAccessAddress
        let train = isPrimary ? CyclicRedundancyCheck.advertisingInitial : trains[key]
        guard let initial = train else { return receive(data: frame, key, at: time, &pseudonyms) }
        // A length that is corrupted would move the borders of all fields.
        guard !frame.isCorrupted else {
            return (.payload([UInt8](repeating: 0, count: frame.payload.count)), initial, false)
        }
        if isPrimary, frame.pdu[0] & 0x0F == 5 { open(frame.payload, adapter, at: time) }
        let payload = advertisement(frame, key, isTrain: !isPrimary, &pseudonyms)
        return (.payload(payload), initial, false)
    }

    // MARK: Advertising channels

    /// Follows the link of CONNECT_IND or AUX_CONNECT_REQ (Core Vol 6 Part B 2.3.3.1).
    private mutating func open(_ payload: PacketBuffer, _ adapter: UInt32, at time: Int64) {
        guard payload.count == 34, let address = payload.long(at: 12), let word = payload.long(at: 16) else { return }
        let reception = AirReception(hasBeginning: true, interval: payload.word(at: 22), at: time)
        let link = Link(initial: word & 0xFF_FFFF, reception: reception)
        links.set(link, for: Key(adapter: adapter, accessAddress: address))
    }

    private mutating func advertisement(
        _ frame: AirFrame,
        _ key: Key,
        isTrain: Bool,
        _ pseudonyms: inout Pseudonyms
    ) -> [UInt8] {
        let payload = frame.payload
        switch isTrain ? 7 : frame.pdu[0] & 0x0F {
        case 0, 2, 4, 6:
            let data = advertising.redacted(payload.suffix(after: 6), .none, isLast: true, &pseudonyms)
            return addresses(1, payload, &pseudonyms) + data
        case 1, 3:
            let rest = [UInt8](repeating: 0, count: max(0, payload.count - 12))
            return addresses(2, payload, &pseudonyms) + rest
        case 5 where payload.count == 34:
            return addresses(2, payload, &pseudonyms) + Array(payload.suffix(after: 12))
        case 7, 8: return extended(frame, key, isTrain: isTrain, &pseudonyms)
        default: return [UInt8](repeating: 0, count: payload.count)
        }
    }

    /// Returns the replacements of the addresses that a payload begins with, or zeros if it ends within them.
    private func addresses(_ count: Int, _ payload: PacketBuffer, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        let octets = payload.prefix(upTo: 6 * count)
        guard octets.count == 6 * count else { return [UInt8](repeating: 0, count: octets.count) }
        return (0..<count).compactMap { octets.address(at: 6 * $0, isRandom: true) }
            .flatMap { pseudonyms.octets(of: $0) }
    }

    /// Redacts a PDU with the common extended payload (Core Vol 6 Part B 2.3.4).
    private mutating func extended(
        _ frame: AirFrame,
        _ key: Key,
        isTrain: Bool,
        _ pseudonyms: inout Pseudonyms
    ) -> [UInt8] {
        let payload = frame.payload
        guard let header = AirExtendedHeader(payload, isRandom: true) else {
            return [UInt8](repeating: 0, count: payload.count)
        }
        if let train = header.train {
            trains.set(train.initial, for: Key(adapter: key.adapter, accessAddress: train.accessAddress))
        }
        var result = Array(payload.prefix(upTo: header.controllerDataPosition))
        for case (let address?, let position) in [
            (header.advertiser, header.advertiserPosition), (header.target, header.targetPosition),
        ] {
            result.replaceSubrange(position..<position + 6, with: pseudonyms.octets(of: address))
        }
        let own = payload.slice(header.controllerDataPosition..<header.dataPosition)
        result += advertising.redacted(own, .none, isLast: true, &pseudonyms)
        // The parts of long data have the set and the data in common, and on a train the access address.
        let set = header.dataInfo.map { UInt64($0) | 1 << 63 } ?? header.advertiser?.value ?? 0
        let number = isTrain ? UInt64(key.accessAddress) | 1 << 62 : set
        let data = payload.suffix(after: header.dataPosition)
        let part = AdvertisingRedactor.Key.report(number, key.adapter)
        return result + advertising.redacted(data, part, isLast: !header.hasMore, &pseudonyms)
    }

    // MARK: Data channels

    private mutating func receive(
        data frame: AirFrame,
        _ key: Key,
        at time: Int64,
        _ pseudonyms: inout Pseudonyms
    ) -> (outcome: Outcome, initial: UInt32?, followsGap: Bool) {
        // Moved out of the table meanwhile, so that nothing is copied.
        let unknown = AirReception(hasBeginning: false, at: time)
        var link = links.removeValue(for: key) ?? Link(initial: nil, reception: unknown)
        defer { links.set(link, for: key) }
        let (header, payload) = (frame.pdu[0], frame.payload)
        guard !frame.isCorrupted else {
            return (.payload(Self.opaque(payload, header, pseudonyms)), link.initial, false)
        }
        let verdict = link.reception.receive(frame, at: time)
        if verdict.content == .control, payload[0] == 0x00, let interval = payload.word(at: 4) {
            link.reception.change(interval: interval)
        }
        let outcome: Outcome =
            switch verdict.content {
            case .empty: .payload([])
            case .repeated(.plain), .possiblyRepeated(.plain):
                repeated(frame, from: verdict.side, link, &pseudonyms)
            case .control: .payload(control(frame, link, &pseudonyms))
            case .start: .fragment(from: verdict.side, isStart: true)
            case .continuation(isWhole: true): .fragment(from: verdict.side, isStart: false)
            case .repeated, .possiblyRepeated, .unreadable, .continuation, .reserved:
                .payload(Self.opaque(payload, header, pseudonyms))
            }
        return (outcome, link.initial, verdict.followsGap)
    }

    private func repeated(
        _ frame: AirFrame,
        from side: StorySide,
        _ link: Link,
        _ pseudonyms: inout Pseudonyms
    ) -> Outcome {
        switch frame.pdu[0] & 0b11 {
        case 0b11: .payload(control(frame, link, &pseudonyms))
        case 0b00: .payload(Self.opaque(frame.payload, frame.pdu[0], pseudonyms))
        default: .repeated(from: side)
        }
    }

    private func control(_ frame: AirFrame, _ link: Link, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        // Without the beginning of the link, this may as well be periodic advertising (2.3).
        let isDoubtful = link.initial == nil && frame.pdu[0] & 0x3F == 7
        return ControlRedactor.redacted(frame.payload, isDoubtful: isDoubtful, &pseudonyms)
    }

    /// Returns other octets, which are neither a known control PDU nor a complete L2CAP PDU.
    private static func opaque(_ payload: PacketBuffer, _ header: UInt8, _ pseudonyms: Pseudonyms) -> [UInt8] {
        var octets = pseudonyms.octets(payload)
        let marked = header & 0b11 == 0b11 ? 1 : 2
        for index in octets.indices.prefix(marked) { octets[index] = 0xFF }
        return octets
    }
}

/// Replaces what is private in control PDUs of a link (Core Vol 6 Part B 2.4.2).
enum ControlRedactor {
    /// The lengths of the PDUs that contain nothing private, apart from what is replaced, by opcode. What follows them
    /// is unknown (AB-F05).
    private static let lengths = AirReception.controlLengths.prefix(42)

    /// Returns the PDU with replacements, of the same length.
    ///
    /// - Parameter isDoubtful: Whether it may be no control PDU at all.
    static func redacted(_ pdu: PacketBuffer, isDoubtful: Bool, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        guard let opcode = pdu.octet(at: 0), !isDoubtful, pdu.count <= longest else { return zeros(pdu, after: 1) }
        switch opcode {
        // LL_ENC_REQ and LL_ENC_RSP: Rand, EDIV, and what both ends contribute to the session key.
        case 0x03:
            guard pdu.count == 23 else { return zeros(pdu, after: 1) }
            return [opcode] + secrets(pdu, [1..<9, 9..<11, 11..<19, 19..<23], pseudonyms)
        case 0x04:
            guard pdu.count == 13 else { return zeros(pdu, after: 1) }
            return [opcode] + secrets(pdu, [1..<9, 9..<13], pseudonyms)
        // LL_PERIODIC_SYNC_IND has the address of the advertiser.
        case 0x1C: return synchronization(pdu, &pseudonyms)
        default: return zeros(pdu, after: lengths.indices.contains(Int(opcode)) ? lengths[Int(opcode)] : 1)
        }
    }

    /// The longest control PDU with its opcode, that of LL_CIS_REQ.
    private static let longest = 36

    private static func secrets(_ pdu: PacketBuffer, _ fields: [Range<Int>], _ pseudonyms: Pseudonyms) -> [UInt8] {
        fields.flatMap { pseudonyms.octets(pdu.slice($0)) }
    }

    private static func synchronization(_ pdu: PacketBuffer, _ pseudonyms: inout Pseudonyms) -> [UInt8] {
        let position = 27
        guard pdu.count == 35, let address = pdu.address(at: position, isRandom: true) else {
            return zeros(pdu, after: 1)
        }
        var octets = Array(pdu)
        octets.replaceSubrange(position..<position + 6, with: pseudonyms.octets(of: address))
        return octets
    }

    private static func zeros(_ octets: PacketBuffer, after start: Int) -> [UInt8] {
        octets.enumerated().map { $0.offset < start ? $0.element : 0 }
    }
}
