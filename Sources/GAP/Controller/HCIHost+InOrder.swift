import HCI
import HCIHost

extension HCIHost {
    /// Sends commands one after the other, each when the one before has succeeded. `completion` is called once: after the
    /// last, or with the first that failed.
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
