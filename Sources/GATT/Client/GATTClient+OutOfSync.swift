import ATT
import BluetoothTypes

// MARK: - Database Out Of Sync

extension GATTClient {
    /// The way to handle a request that the server refuses with Database Out Of Sync.
    package enum OutOfSyncPolicy: Sendable {
        /// The request fails, and everything known about the database is discarded.
        case fail
        /// The request is retried if the Database Hash shows that nothing has changed since ``GATTClient/cache`` was
        /// filled. Otherwise it fails.
        case repeatIfUnchanged
    }

    /// The state of the recovery from Database Out Of Sync.
    enum Recovery {
        case none
        /// The hash is being read. The handlers retry or fail the refused procedures.
        case readsHash([(_ isUnchanged: Bool) -> Void])
    }

    /// Handles the refusal of a procedure with Database Out Of Sync by reading the Database Hash, once for all
    /// procedures that are refused together.
    ///
    /// The hash shows whether the database has changed, and reading it makes the client change-aware again (Core Vol 3
    /// Part G 2.5.2.1).
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

    /// Discards everything known about `handles`.
    func forget(_ handles: ClosedRange<UInt16>) {
        changes &+= 1
        configurationDescriptors = configurationDescriptors.filter { !handles.contains($0.key) }
        cache?.invalidate(handles)
        onServiceChanged?(handles)
    }
}
