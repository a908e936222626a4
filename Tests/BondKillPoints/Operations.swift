import Bonds

/// What is done to what a directory keeps, one operation after the other; each one changes the state once.
package protocol Operations {
    /// What is kept.
    associatedtype State: Equatable

    /// Does the operation of this number.
    func perform(_ number: Int, on storage: any BondStorage) throws
    /// What is kept.
    func state(in storage: any BondStorage) throws -> State
    /// What the operation makes of a state.
    func state(after number: Int, from old: State) throws -> State
}

extension Script: Operations {
    /// The bonds.
    package func state(in storage: any BondStorage) throws -> StoredBonds? { try storage.load() }
}
