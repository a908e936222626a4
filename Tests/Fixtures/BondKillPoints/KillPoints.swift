import EventLoops
import Security

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Performs operations on a store on disk in child processes that kill themselves with SIGKILL, at each boundary
/// between system calls in turn. Checks what each one leaves: the complete state before or after the operation, in a
/// store that still works. Run as `BondKillPoints DIRECTORY POINTS SEED`; the last line reports how many points held.
@main struct KillPoints {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let points = Int(arguments[2]), let seed = UInt64(arguments[3]) else {
            fail("usage: BondKillPoints DIRECTORY POINTS SEED")
        }
        var records = try Search(path: arguments[1], names: RecordScript.names, script: RecordScript(seed: seed))
        while records.points < points / 2 { try records.tryNextOperation() }
        print("\(records.points) points in \(records.operations) operations on records held")
        try records.begin(with: [:], at: 0)
        var search = try Search(path: arguments[1], names: Script.names, script: Script(seed: seed))
        while search.points < points { try search.tryNextOperation() }
        // A store from before secrets were introduced, and its conversion. The operations that follow do not depend on
        // existing bonds.
        try search.begin(with: ["bonds": Samples.version1], at: Script.foreignOperations.lowerBound)
        if search.state == nil { fail("the files cannot be read") }
        for _ in Script.foreignOperations { try search.tryNextOperation() }
        print("\(search.points) points in \(search.operations) operations held, \(search.advanced) with the new state")
    }
}

extension Script {
    /// The names of the files that may exist.
    fileprivate static let names = ["bonds", "bonds.new", "secret", "secret.new"]
}

extension RecordScript {
    /// The names of the files that may exist.
    fileprivate static let names = slots.flatMap { [$0.name, "\($0.name).new"] } + ["secret", "secret.new"]
}

private struct Search<Script: Operations> {
    let path: String
    let names: [String]
    let script: Script
    var points = 0
    var operations = 0
    /// The number of points that left the new state.
    var advanced = 0
    /// The expected content of the store.
    var state: Script.State
    /// The files of the store by name.
    var files: [String: [UInt8]] = [:]

    init(path: String, names: [String], script: Script) throws {
        self.path = path
        self.names = names
        self.script = script
        state = try script.state(in: MemoryBondStorage())
    }

    /// Kills the next operation at every boundary, until it completes.
    mutating func tryNextOperation() throws {
        let number = operations
        let new = try script.state(after: number, from: state)
        var boundary = 0
        while try performInChild(number, killedAt: boundary) {
            let left = try load()
            if left != state, left != new { fail("operation \(number), boundary \(boundary): neither state is there") }
            if left == new { advanced += 1 }
            points += 1
            // Checks that the store still works with what is left, at every fourth point to save time.
            if points % 4 == 0 { try script.perform(number + 10_000, on: try storage()) }
            try restore()
            boundary += 1
        }
        if try load() != new { fail("operation \(number) was not killed, and the new state is not there") }
        state = new
        files = try contents()
        operations += 1
    }

    /// Continues from other files.
    mutating func begin(with files: [String: [UInt8]], at number: Int) throws {
        self.files = files
        try restore()
        state = try load()
        operations = number
    }

    /// Whether the child was killed before it completed.
    private func performInChild(_ number: Int, killedAt boundary: Int) throws -> Bool {
        let child = forkProcess()
        if child == 0 {
            do {
                let directory = InterruptedDirectory(try PosixBondDirectory(path)) { reached in
                    if reached == boundary { kill(getpid(), SIGKILL) }
                }
                try script.perform(number, on: FileBondStorage(directory: directory, random: RandomSource()))
                directory.boundary()
                _exit(0)
            } catch {
                fail("operation \(number) in a child: \(error)")
            }
        }
        var status: Int32 = 0
        guard child > 0, waitpid(child, &status, 0) == child else { fail("no child") }
        if status & 0x7F == SIGKILL { return true }
        if status != 0 { fail("operation \(number), boundary \(boundary): the child ended with status \(status)") }
        return false
    }

    private func storage() throws -> FileBondStorage {
        // A secret that is created again is a different one.
        try FileBondStorage(directory: path, random: RandomSource())
    }

    private func load() throws -> Script.State { try script.state(in: storage()) }

    private func contents() throws -> [String: [UInt8]] {
        let directory = try PosixBondDirectory(path)
        var files: [String: [UInt8]] = [:]
        for name in names {
            guard let (handle, status) = try directory.open(name) else { continue }
            defer { directory.close(handle) }
            files[name] = try directory.read(handle, atMost: status.size)
        }
        return files
    }

    /// Restores the files from before the operation.
    private func restore() throws {
        let directory = try PosixBondDirectory(path)
        for name in names { try? directory.remove(name) }
        for (name, octets) in files {
            let handle = try directory.create(name)
            defer { directory.close(handle) }
            let written = try directory.write(octets[...], to: handle)
            if written != octets.count { fail("\(name) cannot be put back") }
        }
    }
}

private func fail(_ what: String) -> Never {
    print("FAILED: \(what)")
    fflush(nil)
    _exit(1)
}

// Safe: this process has a single thread, and no state that would break in a copy of it.
@_silgen_name("fork") private func forkProcess() -> Int32
