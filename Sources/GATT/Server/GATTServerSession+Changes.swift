import ATT
import BluetoothTypes

// MARK: - Changes of the database

extension GATTServerSession {
    /// Whether the client has asked to be told of changes.
    var tellsChanges: Bool {
        guard let handle = server?.serviceChanged else { return false }
        return configurations[handle]?.contains(.indicate) == true
    }

    func databaseChanged(_ handles: ClosedRange<UInt16>) {
        configurations = configurations.filter { !handles.contains($0.key) }
        rules = rules.filter { !handles.contains($0.key) }
        unserved = unserved.filter { !handles.contains($0) }
        chosen = chosen.filter { !handles.contains($0) }
        if let database { kept?.databaseChanged(handles, hash: database.hash) }
        prepared.invalidate(handles)
        awareness.databaseChanged()
        recordChanged()
        guard tellsChanges else { return }
        missed.insert(handles)
        indicateChange()
    }

    /// One indication at a time; changes meanwhile that touch become one range (Core Vol 3 Part G 7.1).
    func indicateChange() {
        guard indicated == nil, tellsChanges, let handle = server?.serviceChanged, let range = missed.popFirst() else {
            return
        }
        var value = PacketBuffer(capacity: 4)
        value.append(integer: range.lowerBound)
        value.append(integer: range.upperBound)
        indicated = range
        let isTaken = valueBearer.indicate(value, of: handle) { [weak self] in self?.changeIndicated(range, $0) }
        guard !isTaken else { return }
        indicated = nil
        missed.insert(range)
    }

    /// The link is encrypted. Whoever has confirmed changes, or asked for the hash, until now need not have been the client
    /// (AB-L08): what it had missed it is told of once more.
    func tellChangesAgain() {
        guard let kept, !kept.isChangeAware else { return }
        awareness.databaseChanged()
        guard tellsChanges else { return }
        kept.missedChanges.forEach { missed.insert($0) }
        indicateChange()
    }

    private func changeIndicated(_ range: ClosedRange<UInt16>, _ result: Result<Void, ATTBearerError>) {
        indicated = nil
        guard case .success = result else { return missed.insert(range) }
        if missed.isEmpty { awareness.confirmed(isOnlyBearer: hasOneBearer) }
        recordChanged()
        indicateChange()
    }
}

// MARK: - Clients that hold old handles

extension GATTServerSession {
    /// Whether values and commands are held back: the client has announced robust caching and may hold old handles.
    var isHeldBack: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// Whether a request is to be refused because the client may hold old handles (Core Vol 3 Part G 2.5.2.1).
    func refuses(_ pdu: ATTPDU, _ reply: ATTReply) -> Bool {
        guard let bearer = reply.bearer, !awareness.isAware else { return false }
        let isRefused = awareness.refuses(
            naming: Self.namesHandles(pdu),
            on: ObjectIdentifier(bearer),
            isOnlyBearer: hasOneBearer,
            isRobust: features.contains(.robustCaching)
        )
        if awareness.isAware { recordChanged() }
        return isRefused
    }

    /// Whether a request names handles, or looks at a range as only whoever knows the database does.
    private static func namesHandles(_ pdu: ATTPDU) -> Bool {
        switch pdu {
        case .findInformationRequest, .findByTypeValueRequest, .readByGroupTypeRequest, .executeWriteRequest: false
        case .readByTypeRequest(let request):
            request.type != GATTUUID.include && request.type != GATTUUID.characteristic
                && request.range != ATTHandleRange(1, .max)
        default: true
        }
    }
}
