import Foundation

/// Core Bluetooth and the stand-ins, as seen by a package's compiler and linker.
struct Libraries {
    private let products: String
    private let names: [String]
    /// The directory of their modules, with a subdirectory for each stand-in.
    private let modules: String

    /// Builds the libraries, unless they are up to date.
    ///
    /// - Parameter standIns: The stand-ins to build. Those that are not costly are built in any case.
    init(
        home: HaraldPackage,
        scratch: ScratchDirectory,
        _ standIns: Set<StandIn>,
        _ output: WrappingOutput
    ) throws(WrappingError) {
        names = [Self.name] + standIns.compactMap(\.product).sorted()
        output.notice("harald: building Core Bluetooth and the stand-ins, unless they are up to date")
        // SwiftPM uses a cached plan even if a package's manifest has changed. A new plan lists module aliases in the
        // order of a dictionary, and a changed command line causes a rebuild, so hashing has to be deterministic.
        let build = [
            "SWIFT_DETERMINISTIC_HASHING=1", "swift", "build", "--package-path", home.standIns,
            "--scratch-path", scratch.libraries, "--build-system", "native", "--disable-index-store",
            "--disable-build-manifest-caching",
        ]
        for name in names { try Self.run(build + ["--product", name], name, output) }
        products = String(decoding: try Command.output(of: build + ["--show-bin-path"], output), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        modules = try ModuleDirectories(home: home, scratch: scratch, products: products).make()
    }

    private static func run(_ build: [String], _ name: String, _ output: WrappingOutput) throws(WrappingError) {
        let (clock, began) = (ContinuousClock(), ContinuousClock.now)
        var progress = BuildProgress()
        _ = try Command.output(of: build, output) { line in
            let text = progress.text(after: line, at: (clock.now - began) / .seconds(1))
            if let text { output.notice("harald: building \(name): \(text)") }
        }
    }

    private static let name = "HaraldCompatibility"

    static func file(in products: String) -> String { "\(products)/lib\(name).so" }

    /// Returns the arguments for a wrapped `swift build`.
    func flags(_ standIns: Set<StandIn>) -> [String] {
        var compiler = ["-I", "\(modules)/corebluetooth"]
        for standIn in standIns.sorted(by: { $0.rawValue < $1.rawValue }) {
            compiler += ["-I", "\(modules)/\(standIn)"]
        }
        for module in standIns.compactMap(\.imported).sorted() {
            compiler += ["-Xfrontend", "-import-module", "-Xfrontend", module]
        }
        let linker = names.map { "\(products)/lib\($0).so" } + ["-rpath", products]
        return compiler.flatMap { ["-Xswiftc", $0] } + linker.flatMap { ["-Xlinker", $0] }
    }
}
