import ATT
import L2CAP

/// A procedure that waits for a bearer.
struct WaitingProcedure {
    let isolation: (_ mtu: Int) -> GATTIsolation
    let needsFirstBearer: Bool
    let start: (ATTBearer) -> Void
    let fail: (GATTError) -> Void
}

/// The history of a procedure's earlier attempts.
struct GATTAttempt {
    /// The server refused it with Database Out Of Sync.
    var isInSync = false
    /// It was held because the link was not secure enough.
    var isSecured = false
    /// It was running on an enhanced bearer that closed.
    var hasLostBearer = false

    /// Whether the procedure has already had its turn and goes first.
    var goesFirst: Bool { isSecured || hasLostBearer }
}

/// A procedure that is running on a bearer.
final class RunningProcedure<P: GATTProcedure> {
    private var procedure: P
    private let bearer: ATTBearer
    private let completion: Completion

    /// Receives the result, when the first response began to arrive, and what is wrong with the server's table.
    typealias Completion = (Result<P.Output, GATTError>, LinkMoment, TableFlaws) -> Void

    // When the first response began to arrive.
    private var moment: LinkMoment?

    init(_ procedure: P, _ bearer: ATTBearer, completion: @escaping Completion) {
        self.procedure = procedure
        self.bearer = bearer
        self.completion = completion
    }

    private func end(_ result: Result<P.Output, GATTError>) {
        completion(result, moment ?? bearer.moment, procedure.flaws)
    }

    func start() {
        follow(procedure.begin(mtu: bearer.mtu))
    }

    private func follow(_ step: GATTStep<P.Output>) {
        switch step {
        case .finished(let output): end(.success(output))
        case .failed(let error): end(.failure(error))
        case .request(let pdu):
            bearer.request(pdu) { [self] result, moment in
                self.moment = self.moment ?? moment
                switch result {
                case .success(let response): follow(procedure.handle(response, mtu: bearer.mtu))
                case .failure(.response(let error)): follow(procedure.handle(error, mtu: bearer.mtu))
                case .failure(let error): end(.failure(GATTError(error)))
                }
            }
        }
    }
}
