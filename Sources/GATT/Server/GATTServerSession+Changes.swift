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
        // Its rule, and whether it is served, count only as long as there is a choice.
        configurations = configurations.filter { !handles.contains($0.key) }
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
        var value = PacketBuffer(headroom: PacketBuffer.defaultHeadroom)
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

    /// The handle at which a request is to be refused because the client may hold old ones; nil when it is not (Core Vol 3
    /// Part G 2.5.2.1).
    func handleOutOfSync(_ pdu: ATTPDU, _ reply: ATTReply) -> UInt16? {
        guard let bearer = reply.bearer, !awareness.isAware else { return nil }
        let handle = Self.namedHandle(pdu)
        let isRefused = awareness.refuses(
            naming: handle != nil,
            on: ObjectIdentifier(bearer),
            isOnlyBearer: hasOneBearer,
            isRobust: features.contains(.robustCaching)
        )
        if awareness.isAware { recordChanged() }
        return isRefused ? handle : nil
    }

    /// The first handle that a request names, or at which it looks at a range as only whoever knows the database does; nil for
    /// what names none, and for discovery.
    private static func namedHandle(_ pdu: ATTPDU) -> UInt16? {
        switch pdu {
        case .readByTypeRequest(let request):
            switch request.type {
            case GATTUUID.include, GATTUUID.characteristic: nil
            default: request.range == ATTHandleRange(1, .max) ? nil : request.range.start
            }
        case .readRequest(let request): request.handle
        case .readBlobRequest(let request): request.handle
        case .readMultipleRequest(let request): request.set.handles.first
        case .readMultipleVariableRequest(let request): request.set.handles.first
        case .writeRequest(let request): request.handle
        case .prepareWriteRequest(let request): request.handle
        default: nil
        }
    }
}
