import ATT
import BluetoothTypes
import L2CAP

// MARK: - Insufficient security

extension GATTClient {
    /// The reason why no request may be sent and no value accepted now; nil if both are allowed. A peer with a stored
    /// key is trusted only on an encrypted link (AB-A10).
    var refusal: ATTErrorCode? { refusal(over: linkSecurity) }

    /// The reason why data that began to arrive at `moment` is not trusted; nil if it is. Data that began to arrive in
    /// the clear is not a value of the encrypted link (AB-A09, AB-A10).
    func refusal(since moment: LinkMoment) -> ATTErrorCode? {
        refusal(over: bearer.history.linkSecurity(since: moment))
    }

    private func refusal(over linkSecurity: LinkSecurity) -> ATTErrorCode? {
        if linkSecurity.hasKey, !linkSecurity.isEncrypted { return .insufficientEncryption }
        return linkSecurity.attributeRefusal(of: requirement)
    }

    /// Handles the end of one attempt of a procedure: completes it, holds it or retries it.
    ///
    /// - Parameter moment: The moment at which the first of its responses began to arrive.
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
            // A key for the peer has become known meanwhile, so the response needs a secure link, which may exist by
            // now.
            guard let cause = refusal(since: moment) else { return completion(result) }
            guard refusal != nil || attempt.isSecured else { return repeatSecured(procedure, attempt, completion) }
            hold(procedure, attempt, for: cause, .insufficientSecurity(cause), completion)
        case .failure: completion(result)
        }
    }

    /// Holds a refused procedure while the owner secures the link, then retries it once (behaviour 6.1).
    private func hold<P: GATTProcedure>(
        _ procedure: P,
        _ attempt: GATTAttempt,
        for cause: ATTErrorCode,
        _ error: GATTError,
        _ completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        guard let onInsufficientSecurity, !attempt.isSecured, !isClosed else { return completion(.failure(error)) }
        let number = holding.add(at: linkSecurity) { completion(.failure($0)) }
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

    /// Asks the owner to secure the link, once for everything that waits.
    func askForSecurity(_ cause: ATTErrorCode) {
        guard !wish.isAsked else { return }
        guard let onInsufficientSecurity else { return failWaiting(.insufficientSecurity(cause)) }
        wish.ask()
        onInsufficientSecurity(cause) { [self] outcome in
            guard wish.answered() else { return }
            // The owner may have accepted less security than required.
            if outcome != .secured || refusal != nil { failWaiting(.insufficientSecurity(cause).after(outcome)) }
            startNext()
        }
    }

    /// Called by the owner when ``linkSecurity`` has changed: starts what the link is secure enough for now.
    package func linkSecurityChanged() {
        startNext()
        if refusal == nil, wish.secured() { bearer.onCommandRoom?() }
    }

    /// Fails the held procedures once the last bearer has closed.
    func bearerClosed(_ closure: ATTBearerClosure) {
        guard isClosed else { return }
        for fail in holding.removeAll() { fail(.bearer(.closed(closure))) }
        startNext()
    }
}
