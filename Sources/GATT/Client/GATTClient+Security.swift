import ATT
import BluetoothTypes
import L2CAP

// MARK: - Links that are not secure enough

extension GATTClient {
    /// Why nothing may be asked of the peer and nothing taken from it now; nil when all is well. A peer that there is a key
    /// for is believed to be that peer when the link is encrypted (AB-A10).
    var refusal: ATTErrorCode? { refusal(over: security) }

    /// Why what began to arrive at `moment` is not taken from the peer; nil when all is well. What began in the clear is no
    /// value of the encrypted link (AB-A09, AB-A10).
    func refusal(since moment: LinkMoment) -> ATTErrorCode? { refusal(over: securities.weakest(since: moment)) }

    private func refusal(over security: LinkSecurity) -> ATTErrorCode? {
        security.hasKey && !security.isEncrypted ? .insufficientEncryption : security.attributeRefusal(of: requirement)
    }

    /// A procedure has ended, for its owner or for now. The first of its answers began to arrive at `moment`.
    func finish<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ result: Result<P.Output, GATTError>,
        since moment: LinkMoment,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        switch result {
        case .failure(.att(let error)) where error.code == .databaseOutOfSync && !attempt.isInSync:
            refuse(procedure, attempt, completion)
        case .failure(.att(let error)) where error.code.isInsufficientSecurity:
            hold(procedure, attempt, for: error.code, .att(error), completion)
        case .success:
            // The peer has turned out to be one that has to prove itself, and perhaps it has by now.
            guard let cause = refusal(since: moment) else { return completion(result) }
            guard refusal != nil || attempt.isSecured else { return repeatSecured(procedure, attempt, completion) }
            hold(procedure, attempt, for: cause, .insufficientSecurity(cause), completion)
        case .failure: completion(result)
        }
    }

    /// Holds a procedure that was refused while the owner secures the link, and repeats it once (behaviour 6.1).
    private func hold<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        for cause: ATTErrorCode,
        _ error: GATTError,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        guard let onInsufficientSecurity, !attempt.isSecured, !isClosed else { return completion(.failure(error)) }
        let number = holding.add(at: security) { completion(.failure($0)) }
        onInsufficientSecurity(cause) { [self] outcome in
            guard holding.remove(number) else { return }
            if outcome == .secured {
                repeatSecured(procedure, attempt, completion)
            } else {
                completion(.failure(error.after(outcome)))
            }
            startNext()
        }
    }

    private func repeatSecured<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        var attempt = attempt
        attempt.isSecured = true
        run(procedure, attempt: attempt, completion: completion)
    }

    /// Asks the owner, once for all that waits.
    func askForSecurity(_ cause: ATTErrorCode) {
        guard !wish.isAsked else { return }
        guard let onInsufficientSecurity else { return failWaiting(.insufficientSecurity(cause)) }
        wish.ask()
        onInsufficientSecurity(cause) { [self] outcome in
            guard wish.answered() else { return }
            // The owner may have been content with less than is asked for.
            if outcome != .secured || refusal != nil { failWaiting(.insufficientSecurity(cause).after(outcome)) }
            startNext()
        }
    }

    func securityChanged() {
        startNext()
        if refusal == nil, wish.secured() { bearer.onCommandRoom?() }
    }

    /// Those that are held have nothing to wait for any more, when it was the last bearer.
    func bearerClosed(_ closure: ATTBearerClosure) {
        guard isClosed else { return }
        for fail in holding.removeAll() { fail(.bearer(.closed(closure))) }
        startNext()
    }
}
