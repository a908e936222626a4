import Security

/// A sequence of operations on the content of a directory. Each one changes the state once.
package protocol Operations {
    /// The content of the directory.
    associatedtype State: Equatable

    /// Performs the operation with this number.
    func perform(_ number: Int, on storage: any BondStorage) throws
    /// Returns the state that `storage` loads.
    func state(in storage: any BondStorage) throws -> State
    /// Returns the state after the operation.
    func state(after number: Int, from old: State) throws -> State
}

extension Script: Operations {
    /// Returns the bonds that `storage` loads; nil if none were saved.
    package func state(in storage: any BondStorage) throws -> StoredBonds? { try storage.load() }
}
