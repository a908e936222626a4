import Security

/// A model of a file system that loses on power failure whatever was not made durable: unsynchronised octets, and
/// changes to names since the directory was last synchronised.
final class ModelDirectory: BondDirectory {
    /// A synchronisation that the model ignores, to check that the test detects it.
    enum Negligence { case none, filesAreNotKept, namesAreNotKept }

    /// A change to names since they were last made durable.
    private enum NameChange {
        case give(String, to: Int)
        case take(String)
        case move(String, to: String)
    }

    private struct File {
        var octets: [UInt8] = []
        var kept: [UInt8] = []
    }

    /// Ends an operation prematurely.
    static let powerLoss = SystemError(9999)

    let path = "model"
    let user: UInt32 = 1000
    private let negligence: Negligence
    private let lossAt: Int
    private var calls = 0
    private var files: [File] = []
    private var names: [String: Int] = [:]
    private var keptNames: [String: Int] = [:]
    private var changes: [NameChange] = []
    private var positions: [Int32: Int] = [:]

    /// A directory with files by name, whose power fails before call `lossAt`.
    init(_ contents: [String: [UInt8]], lossAt: Int = .max, negligence: Negligence = .none) {
        self.lossAt = lossAt
        self.negligence = negligence
        for (name, octets) in contents {
            names[name] = files.count
            files.append(File(octets: octets, kept: octets))
        }
        keptNames = names
    }

    /// Whether the power has failed.
    var isDead: Bool { calls > lossAt }
    /// The current content of the files.
    var contents: [String: [UInt8]] { names.mapValues { files[$0].octets } }

    /// The possible contents of the files after the power returns.
    var outcomes: Set<[String: [UInt8]]> {
        var outcomes: Set<[String: [UInt8]]> = []
        for kept in 0..<(1 << changes.count) {
            var names = keptNames
            for (index, change) in changes.enumerated() where kept & 1 << index != 0 {
                switch change {
                case .give(let name, let file): names[name] = file
                case .take(let name): names[name] = nil
                case .move(let name, let other):
                    guard let file = names.removeValue(forKey: name) else { continue }
                    names[other] = file
                }
            }
            // Each file may independently be in any of its states.
            var found: Set<[String: [UInt8]]> = [[:]]
            for (name, number) in names {
                let ways = contents(of: files[number])
                found = Set(found.flatMap { known in ways.map { known.merging([name: $0]) { $1 } } })
            }
            outcomes.formUnion(found)
        }
        return outcomes
    }

    /// The possible states of an unsynchronised file: the old, the new, a part of it, and space without data.
    private func contents(of file: File) -> [[UInt8]] {
        guard file.octets != file.kept else { return [file.kept] }
        let count = file.octets.count
        return [
            file.kept, file.octets, Array(file.octets.prefix(count / 2)), [UInt8](repeating: 0, count: count),
            Array(file.octets.prefix(count / 2)) + [UInt8](repeating: 0, count: count - count / 2),
        ]
    }

    private func call() throws(SystemError) {
        calls += 1
        if isDead { throw Self.powerLoss }
    }

    func open(_ name: String) throws(SystemError) -> (file: Int32, status: FileStatus)? {
        try call()
        guard let number = names[name] else { return nil }
        positions[Int32(number)] = 0
        let size = files[number].octets.count
        return (Int32(number), FileStatus(owner: user, permissions: 0o600, size: size, number: UInt64(number)))
    }

    func create(_ name: String) throws(SystemError) -> Int32 {
        try call()
        guard names[name] == nil else { throw SystemError(17) }
        files.append(File())
        names[name] = files.count - 1
        changes.append(.give(name, to: files.count - 1))
        return Int32(files.count - 1)
    }

    func read(_ file: Int32, atMost count: Int) throws(SystemError) -> [UInt8] {
        let octets = files[Int(file)].octets.dropFirst(positions[file] ?? 0).prefix(count)
        positions[file, default: 0] += octets.count
        return Array(octets)
    }

    func write(_ octets: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
        try call()
        files[Int(file)].octets += octets.prefix(octets.count / 2 + 50)
        return min(octets.count, octets.count / 2 + 50)
    }

    func synchronize(_ file: Int32) throws(SystemError) {
        try call()
        if negligence != .filesAreNotKept { files[Int(file)].kept = files[Int(file)].octets }
    }

    func close(_ file: Int32) {}

    func rename(_ name: String, to other: String) throws(SystemError) {
        try call()
        guard let file = names.removeValue(forKey: name) else { throw SystemError(2) }
        names[other] = file
        changes.append(.move(name, to: other))
    }

    func link(_ name: String, as other: String) throws(SystemError) {
        try call()
        guard let file = names[name] else { throw SystemError(2) }
        guard names[other] == nil else { throw SystemError(17) }
        names[other] = file
        changes.append(.give(other, to: file))
    }

    func remove(_ name: String) throws(SystemError) {
        try call()
        guard names.removeValue(forKey: name) != nil else { throw SystemError(2) }
        changes.append(.take(name))
    }

    func synchronize() throws(SystemError) {
        try call()
        if negligence == .namesAreNotKept { return }
        keptNames = names
        changes = []
    }
}
