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

    /// A procedure was refused with Database Out Of Sync. The hash is read, once for all that are refused together: that
    /// says what has changed, and the server that this client knows (Core Vol 3 Part G 2.5.2.1).
    func refuse<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        let mayRepeat = outOfSyncPolicy == .repeatIfUnchanged && cache?.hash != nil
        if mayRepeat {
            refused.append { [self] isUnchanged in
                guard isUnchanged else { return completion(.failure(.databaseOutOfSync)) }
                var attempt = attempt
                attempt.isInSync = true
                run(procedure, attempt: attempt, completion: completion)
            }
        }
        recover(expecting: mayRepeat ? cache?.hash : nil)
        if !mayRepeat { completion(.failure(.databaseOutOfSync)) }
    }

    private func recover(expecting hash: DatabaseHash?) {
        guard !isRecovering else { return }
        isRecovering = true
        if hash == nil { forget(1...UInt16.max) }
        run(DatabaseHashProcedure(), attempt: GATTAttempt(isInSync: true)) { [self] result in
            isRecovering = false
            let now = (try? result.get()) ?? nil
            let isUnchanged = hash != nil && now == hash
            if hash != nil, !isUnchanged { forget(1...UInt16.max) }
            cache?.hash = now
            let waiters = refused
            refused = []
            for waiter in waiters { waiter(isUnchanged) }
        }
    }

    /// Nothing may be believed of `handles` any more.
    func forget(_ handles: ClosedRange<UInt16>) {
        changes &+= 1
        configurationDescriptors = configurationDescriptors.filter { !handles.contains($0.key) }
        cache?.invalidate(handles)
        onServiceChanged?(handles)
    }
}
