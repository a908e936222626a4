import ATT
import BluetoothTypes

// MARK: - Database Out Of Sync

extension GATTClient {
    /// What becomes of a request that the server refuses because this client holds old handles.
    package enum OutOfSyncPolicy: Sendable {
        /// It fails, and all that is known of the database is forgotten.
        case fail
        /// It is repeated if the Database Hash shows that nothing has changed since ``GATTClient/cache`` was filled; else
        /// it fails.
        case repeatIfUnchanged
    }

    /// What becomes of procedures that the server has refused because this client holds old handles.
    enum Recovery {
        case none
        /// The hash is being read. Those that may be repeated wait for what it says.
        case readsHash([(_ isUnchanged: Bool) -> Void])
    }

    /// A procedure was refused with Database Out Of Sync. The hash is read, once for all that are refused together: that
    /// says what has changed, and the server that this client knows (Core Vol 3 Part G 2.5.2.1).
    func refuse<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        guard outOfSyncPolicy == .repeatIfUnchanged, let hash = cache?.hash else {
            recover(expecting: nil, [])
            return completion(.failure(.databaseOutOfSync))
        }
        let waiter = { [self] (isUnchanged: Bool) in
            guard isUnchanged else { return completion(.failure(.databaseOutOfSync)) }
            var attempt = attempt
            attempt.isInSync = true
            run(procedure, attempt: attempt, completion: completion)
        }
        recover(expecting: hash, [waiter])
    }

    private func recover(expecting hash: DatabaseHash?, _ waiters: [(_ isUnchanged: Bool) -> Void]) {
        if case .readsHash(let others) = recovery {
            recovery = .readsHash(others + waiters)
            return
        }
        recovery = .readsHash(waiters)
        if hash == nil { forget(1...UInt16.max) }
        run(DatabaseHashProcedure(), attempt: GATTAttempt(isInSync: true)) { [self] result in
            recovered(from: hash, to: (try? result.get()) ?? nil)
        }
    }

    private func recovered(from hash: DatabaseHash?, to now: DatabaseHash?) {
        guard case .readsHash(let waiters) = recovery else { return }
        recovery = .none
        let isUnchanged = hash != nil && now == hash
        if hash != nil, !isUnchanged { forget(1...UInt16.max) }
        cache?.hash = now
        for waiter in waiters { waiter(isUnchanged) }
    }

    /// Nothing may be believed of `handles` any more.
    func forget(_ handles: ClosedRange<UInt16>) {
        changes &+= 1
        configurationDescriptors = configurationDescriptors.filter { !handles.contains($0.key) }
        cache?.invalidate(handles)
        onServiceChanged?(handles)
    }
}
