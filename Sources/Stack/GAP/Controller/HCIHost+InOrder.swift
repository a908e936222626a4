import HCI
import HCIHost

extension HCIHost {
    /// Sends commands one by one, each after the success of the one before. Calls `completion` once, after the last
    /// command or with the first error.
    func send(
        inOrder commands: [any HCICommand],
        _ completion: @escaping (Result<Void, HCICommandError>) -> Void
    ) {
        guard let first = commands.first else { return completion(.success(())) }
        send(first, before: Array(commands.dropFirst()), completion)
    }

    private func send<C: HCICommand>(
        _ command: C,
        before others: [any HCICommand],
        _ completion: @escaping (Result<Void, HCICommandError>) -> Void
    ) {
        send(command) { [weak self] result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success: self?.send(inOrder: others, completion)
            }
        }
    }
}
