import ATT
import BluetoothTypes

// MARK: - Service Changed

extension GATTServerSession {
    /// Whether the client has subscribed to Service Changed.
    var tellsChanges: Bool {
        guard let handle = server?.serviceChanged else { return false }
        return configurations[handle]?.contains(.indicate) == true
    }

    func databaseChanged(_ handles: ClosedRange<UInt16>) {
        // `rules` and `unserved` have an effect only together with a configuration, so they need no cleanup.
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

    /// Indicates the next change. Only one indication is outstanding; adjacent changes meanwhile are merged into one
    /// range (Core Vol 3 Part G 7.1).
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

    /// Indicates the missed changes again after the link was encrypted. Before that, an impostor may have confirmed
    /// them or read the hash (AB-L08).
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

// MARK: - Change-unaware clients

extension GATTServerSession {
    /// Whether values and commands are held back: the client has announced robust caching and may hold old handles.
    var isHeldBack: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// The handle at which to refuse a request because the client may hold old handles; nil if the request is served
    /// (Core Vol 3 Part G 2.5.2.1).
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

    /// The first handle that a request names, or the start of a range that only a client with knowledge of the database
    /// would use. Nil for discovery requests and for requests that name no handle.
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
