import Synchronization

/// The names of places that were looked up before. An entry is nil if the place has no name.
struct SiteNames {
    static let shared = Mutex(SiteNames())

    private var known: [CallSite: CallPlace?] = [:]
    private var symbolizer: Symbolizer

    init(_ symbolizer: Symbolizer = Symbolizer()) {
        self.symbolizer = symbolizer
    }

    mutating func places(of sites: some Collection<CallSite>) -> [CallSite: CallPlace] {
        let unknown = Set(sites.filter { known[$0] == nil })
        if !unknown.isEmpty {
            let stacks = unknown.compactMap { site in CallSites.stack(of: site).map { (site, $0) } }
            let frames = symbolizer.frames(of: stacks.map(\.1))
            for (index, (site, stack)) in stacks.enumerated() {
                known[site] = .some(Self.place(in: frames?[index] ?? [], of: stack))
            }
        }
        var places: [CallSite: CallPlace] = [:]
        for site in sites { places[site] = known[site] ?? nil }
        return places
    }

    /// Without any name, the addresses are left.
    private static func place(in frames: [SymbolFrame], of stack: CallSites.Stack) -> CallPlace? {
        if frames.contains(where: { $0.file != nil || $0.mangled != nil }) { return AppFrame.place(in: frames) }
        return Symbolizer.addresses(of: stack)
    }
}

/// Tells the frames of an app from those of this package and of the system.
enum AppFrame {
    /// The folder of this package's floors, as the compiler saw it.
    static let sources: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(4).joined(separator: "/") + "/"
    }()

    /// The modules between an app's call and the edge of `CoreBluetooth`. Other modules of this package, such as demos,
    /// are apps.
    static let modules = [
        "AppAdvice", "BluetoothService", "BluetoothSimulation", "BluetoothTesting", "CoreBluetooth",
        "CoreBluetoothExtras",
        "EventLoops", "ServiceMessages", "ServiceProcess",
    ]

    /// Modules of the toolchain, by their beginnings in mangled names.
    private static let system = ["$ss", "$sSo", "$s15Synchronization", "$s8Dispatch", "$s10Foundation", "$sSc"]

    /// Returns the innermost frame of the app, from the innermost frame on.
    static func place(in frames: [SymbolFrame]) -> CallPlace? {
        if let frame = frames.first(where: isOfApp), let file = frame.file, let line = frame.line {
            return CallPlace(file: file, line: line, function: frame.function, offset: frame.offset)
        }
        // Without line tables the names of functions remain.
        guard frames.allSatisfy({ $0.line == nil }), let frame = frames.first(where: isNamedByApp) else { return nil }
        return CallPlace(function: frame.function, offset: frame.offset)
    }

    private static func isOfApp(_ frame: SymbolFrame) -> Bool {
        guard let file = frame.file, frame.line != nil, !file.hasPrefix("<"), !file.contains("/<") else { return false }
        if file.contains("/stdlib/public/") || file.contains("swift-corelibs") { return false }
        guard file.hasPrefix(sources) else { return true }
        // The floor, the module, the rest.
        let parts = file.dropFirst(sources.count).split(separator: "/", maxSplits: 2)
        return parts.count < 3 || !modules.contains { $0 == parts[1] }
    }

    private static func isNamedByApp(_ frame: SymbolFrame) -> Bool {
        // Swift's names begin so. Others, such as `main`, are those of the runtime.
        guard let name = frame.mangled, name.hasPrefix("$s"), !frame.isOfSystem else { return false }
        if system.contains(where: name.hasPrefix) { return false }
        return !modules.contains { name.hasPrefix("$s\($0.utf8.count)\($0)") }
    }
}
