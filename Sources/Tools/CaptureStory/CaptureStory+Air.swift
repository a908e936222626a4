import BluetoothTypes
import HCI

/// Frames of the LE link layer, as a sniffer receives them.
extension CaptureStory {
    mutating func receive(frame octets: PacketBuffer, linkType: UInt32, adapter: UInt32) {
        guard let frame = AirFrame(octets, linkType: linkType) else {
            totals.malformed += 1
            return
        }
        guard !frame.isCorrupted else { return }
        if frame.accessAddress == AirFrame.advertisingAccessAddress {
            receive(advertising: frame, adapter)
        } else {
            receive(data: frame, adapter)
        }
    }

    private func key(_ accessAddress: UInt32, _ adapter: UInt32) -> OpenLinks.Key {
        OpenLinks.Key(adapter: adapter, number: accessAddress, isAir: true)
    }

    // MARK: Advertising channels

    private mutating func receive(advertising frame: AirFrame, _ adapter: UInt32) {
        let header = frame.pdu[0]
        let payload = frame.payload
        let (isSenderRandom, isReceiverRandom) = (header >> 6 & 1 == 1, header >> 7 & 1 == 1)
        switch header & 0x0F {
        case 0, 2, 4, 6:
            guard let address = payload.address(at: 0, isRandom: isSenderRandom) else { return }
            advertised(address, payload.suffix(after: 6), rssi: frame.rssi)
        case 1:
            guard let address = payload.address(at: 0, isRandom: isSenderRandom) else { return }
            advertised(address, [], rssi: frame.rssi)
        case 5: connect(payload, isSenderRandom, isReceiverRandom, frame, adapter)
        case 7:
            guard let extended = AirExtendedHeader(payload, isRandom: isSenderRandom), let address = extended.advertiser
            else { return }
            advertised(address, payload.suffix(after: extended.dataPosition), rssi: frame.rssi)
        default: break
        }
    }

    /// Opens a link with CONNECT_IND or AUX_CONNECT_REQ (Core Vol 6 Part B 2.3.3.1).
    private mutating func connect(
        _ payload: PacketBuffer,
        _ isInitiatorRandom: Bool,
        _ isAdvertiserRandom: Bool,
        _ frame: AirFrame,
        _ adapter: UInt32
    ) {
        guard payload.count == 34, let initiator = payload.address(at: 0, isRandom: isInitiatorRandom),
            let advertiser = payload.address(at: 6, isRandom: isAdvertiserRandom),
            let accessAddress = payload.long(at: 12), let interval = payload.word(at: 22),
            let latency = payload.word(at: 24), let timeout = payload.word(at: 26)
        else { return }
        book.addConnected(initiator, at: now)
        openLink(key(accessAddress, adapter), peer: advertiser) { link in
            (link.isCentral, link.isAir) = (true, true)
            (link.interval, link.latency, link.timeout) = (interval, latency, timeout)
            link.reception = AirReception(hasBeginning: true, interval: interval, at: link.begin)
            link.air = PerSide(AirTime())
            (link.air.near.phy, link.air.far.phy) = (frame.phy, frame.phy)
        }
        let parameters = StoryWords.parameters(interval, latency, timeout)
        addEntry(.connected, "\(book.label(initiator)) connects to \(book.label(advertiser)): \(parameters)")
    }

    // MARK: Data channels

    private mutating func receive(data frame: AirFrame, _ adapter: UInt32) {
        let key = key(frame.accessAddress, adapter)
        withLink(key) { link, story in story.receive(frame, on: &link) }
        if let ending {
            self.ending = nil
            close(key, ending)
        }
    }

    private mutating func receive(_ frame: AirFrame, on link: inout LinkStory) {
        let verdict = link.reception.receive(frame, at: now)
        let (side, payload) = (verdict.side, frame.payload)
        if verdict.followsGap { link.noteMissingFrames() }
        link.isTimely = verdict.isTimely
        let moment = moment
        link.heard.change(side) { $0 = ($0.count + 1, moment) }
        switch verdict.content {
        case .empty: link.emptyPDUs += 1
        case .repeated: link.repeats[side] += 1
        case .possiblyRepeated: link.possibleRepeats += 1
        case .unreadable(let protection): receive(unreadable: payload, protection, from: side, on: &link)
        case .control: receive(control: payload, from: side, on: &link)
        case .start: receive(payload, isStart: true, from: side, on: &link)
        case .continuation: receive(payload, isStart: false, from: side, on: &link)
        case .reserved: break
        }
    }

    private mutating func receive(
        unreadable payload: PacketBuffer,
        _ protection: AirReception.Protection,
        from side: StorySide,
        on link: inout LinkStory
    ) {
        link.lastPacket = now
        guard protection == .encrypted else {
            if link.doubtful == 0 {
                addEntry(.encryption, "packets are missing, and those that may be encrypted are left out from here on")
            }
            link.doubtful += 1
            return
        }
        link.unreadable += 1
        link.traffic[side].add(max(0, payload.count - 4), at: now)
    }

    private mutating func receive(control pdu: PacketBuffer, from side: StorySide, on link: inout LinkStory) {
        let who = link.name(side)
        switch pdu.octet(at: 0) {
        case 0x00:
            guard let interval = pdu.word(at: 4), let latency = pdu.word(at: 6), let timeout = pdu.word(at: 8) else {
                return
            }
            link.reception.change(interval: interval)
            change(&link, interval, latency, timeout)
        case 0x02:
            let status = HCIStatus(rawValue: pdu.octet(at: 1) ?? 0)
            let duration = link.hasBeginning ? " after \(StoryWords.time(now &- link.begin))" : ""
            let text = "disconnected\(duration) by \(who): \(status)"
            addEntry(.disconnected, text, section: StoryWords.section(of: status.rawValue))
            ending = .reported(status, by: side)
        case 0x03: addEntry(.encryption, "\(who) starts to encrypt the link")
        case 0x05:
            link.isEncrypted = true
            if link.pairing.encrypted() { addEntry(.pairing, "paired: \(link.pairing.method ?? "")") }
            encryptionSucceeded(&link)
            link.mark(.encryption, "encrypted", at: now)
            addEntry(.encryption, "encrypted from here on: what follows stays unreadable without the key")
        case 0x0C:
            guard let version = pdu.octet(at: 1), let company = pdu.word(at: 2) else { return }
            addEntry(.note, "the controller of \(who): \(StoryWords.controller(version, company))")
        case 0x0D: rejected(0x03, pdu.octet(at: 1) ?? 0, side, &link)
        case 0x11: rejected(pdu.octet(at: 1) ?? 0, pdu.octet(at: 2) ?? 0, side, &link)
        case 0x15: lengths(pdu, side, &link)
        case 0x18: phys(pdu, &link)
        default: break
        }
    }

    /// A request of the link layer is rejected. LL_REJECT_IND names none, and is about encryption (Core Vol 6 Part B
    /// 2.4.2.13).
    private mutating func rejected(_ request: UInt8, _ status: UInt8, _ side: StorySide, _ link: inout LinkStory) {
        addError("\(link.name(side)) rejects", status)
        if request == 0x03 { encryptionFailed(status, &link) }
    }

    private mutating func lengths(_ pdu: PacketBuffer, _ side: StorySide, _ link: inout LinkStory) {
        guard let rx = pdu.word(at: 1), let tx = pdu.word(at: 5) else { return }
        (link.air[side].octets, link.air[side.other].octets) = (Int(tx), Int(rx))
        addEntry(.dataLength, "data length: \(link.name(side)) sends up to \(tx) octets, and receives up to \(rx)")
    }

    private mutating func phys(_ pdu: PacketBuffer, _ link: inout LinkStory) {
        guard let down = pdu.octet(at: 1), let up = pdu.octet(at: 2) else { return }
        // A bit for each PHY; none means that the PHY stays (Core Vol 6 Part B 2.4.2.22).
        func number(_ bits: UInt8, _ old: UInt8) -> UInt8 { bits == 0 ? old : UInt8(bits.trailingZeroBitCount) + 1 }
        link.air.near.phy = number(down, link.air.near.phy)
        link.air.far.phy = number(up, link.air.far.phy)
        // The PHY of the other direction is not known for certain once frames are missing.
        let isCertain = link.missing == 0
        let directions = [
            down != 0 || isCertain ? "\(StoryWords.phy(link.air.near.phy)) from the central" : nil,
            up != 0 || isCertain ? "\(StoryWords.phy(link.air.far.phy)) to it" : nil,
        ]
        let text = "PHY: \(directions.compactMap(\.self).joined(separator: ", "))"
        link.mark(.phy, text, at: now)
        addEntry(.phy, text)
    }
}
