import EventLoops
import ServiceMessages
import Synchronization

/// Looks up places of this process for its service, on other threads and one batch at a time.
package final class PlaceFinder: Sendable {
    /// The maximum number of places that wait. Further ones are unknown.
    static let maximum = 256

    /// Looks up places, and passes on what is found, once.
    package typealias Search = @Sendable ([CallSite], @escaping @Sendable ([CallSite: String]) -> Void) -> Void

    /// Searches the program's debugging information.
    package static let ofProgram: Search = { sites, done in
        SideQueue.run { done(CallSites.places(of: sites).mapValues(\.description)) }
    }

    private struct State {
        var waiting: [UInt32] = []
        var isSearching = false
    }

    private let state = Mutex(State())
    private let search: Search

    init(_ search: @escaping Search) {
        self.search = search
    }

    /// Looks up a place. `answer` is called with its number on any thread, once.
    func find(_ number: UInt32, _ answer: @escaping @Sendable (UInt32, String?) -> Void) {
        let isTaken = state.withLock { state in
            guard state.waiting.count < Self.maximum else { return false }
            state.waiting.append(number)
            return true
        }
        guard isTaken else { return answer(number, nil) }
        searchNext(answer)
    }

    private func searchNext(_ answer: @escaping @Sendable (UInt32, String?) -> Void) {
        let batch = state.withLock { state in
            guard !state.isSearching, !state.waiting.isEmpty else { return [UInt32]() }
            defer { (state.waiting, state.isSearching) = ([], true) }
            return state.waiting
        }
        guard !batch.isEmpty else { return }
        search(batch.map { CallSite(number: $0) }) { [self] found in
            for number in batch { answer(number, found[CallSite(number: number)]) }
            state.withLock { $0.isSearching = false }
            searchNext(answer)
        }
    }
}
