import Security

/// A directory that interrupts at a given boundary between system calls: before the first, between two, or after the
/// last. Files are written in several steps, so that there are boundaries within them.
package final class InterruptedDirectory: BondDirectory {
    package var path: String { base.path }
    package var user: UInt32 { base.user }
    /// The number of boundaries so far.
    package private(set) var boundaries = 0

    private let base: any BondDirectory
    private let interrupt: (Int) -> Void

    /// Creates a directory that calls `interrupt` at each boundary with its number.
    package init(_ base: any BondDirectory, interrupt: @escaping (Int) -> Void) {
        self.base = base
        self.interrupt = interrupt
    }

    /// Marks a boundary: before each call, and after the last one when the caller reports it.
    package func boundary() {
        interrupt(boundaries)
        boundaries += 1
    }

    package func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)? {
        boundary()
        return try base.open(name)
    }

    package func create(_ name: String) throws(SystemError) -> Int32 {
        boundary()
        return try base.create(name)
    }

    package func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8] {
        try base.read(file, atMost: count)
    }

    package func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
        boundary()
        return try base.write(octets.prefix(octets.count / 3 + 40), to: file)
    }

    package func synchronize(_ file: Int32) throws(SystemError) {
        boundary()
        try base.synchronize(file)
    }

    package func close(_ file: Int32) {
        boundary()
        base.close(file)
    }

    package func rename(_ name: String, to other: String) throws(SystemError) {
        boundary()
        try base.rename(name, to: other)
    }

    package func link(_ name: String, as other: String) throws(SystemError) {
        boundary()
        try base.link(name, as: other)
    }

    package func remove(_ name: String) throws(SystemError) {
        boundary()
        try base.remove(name)
    }

    package func synchronize() throws(SystemError) {
        boundary()
        try base.synchronize()
    }
}
