import Foundation

/// Core Bluetooth and the stand-ins, as seen by a package's compiler and linker.
struct Libraries {
    private let products: String
    /// The directory of their modules, with a subdirectory for each stand-in.
    private let modules: String

    /// Builds the libraries, unless they are up to date.
    init(home: HaraldPackage, scratch: ScratchDirectory, _ output: WrappingOutput) throws(WrappingError) {
        output.notice("harald: building Core Bluetooth and the stand-ins, unless they are up to date")
        // SwiftPM uses a cached plan even if a package's manifest has changed. A new plan lists module aliases in the
        // order of a dictionary, and a changed command line causes a rebuild, so hashing has to be deterministic.
        let build = [
            "SWIFT_DETERMINISTIC_HASHING=1", "swift", "build", "--package-path", home.standIns,
            "--scratch-path", scratch.libraries, "--build-system", "native", "--disable-index-store",
            "--disable-build-manifest-caching", "--product", Self.name,
        ]
        _ = try Command.output(of: build, output)
        products = String(decoding: try Command.output(of: build + ["--show-bin-path"], output), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        modules = try ModuleDirectories(home: home, scratch: scratch, products: products).make()
    }

    private static let name = "HaraldCompatibility"

    /// Returns the path of the library within the build products.
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
        let linker = [Self.file(in: products), "-rpath", products]
        return compiler.flatMap { ["-Xswiftc", $0] } + linker.flatMap { ["-Xlinker", $0] }
    }
}
