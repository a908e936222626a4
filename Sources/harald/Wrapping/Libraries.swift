import Foundation

/// Core Bluetooth and the stand-ins as a package's compiler and linker meet them.
struct Libraries {
    private let products: String
    /// Where their modules lie, in a directory for each stand-in.
    private let modules: String

    /// Builds what is not up to date.
    init(home: HaraldPackage, scratch: ScratchDirectory) throws(ToolError) {
        Console.problem("harald: building Core Bluetooth and the stand-ins, unless they are up to date")
        // A plan that SwiftPM has kept is used though a package of it has another manifest now. A new one has the other names of
        // modules in the order of a dictionary, and what has another command line is compiled anew.
        let build = [
            "SWIFT_DETERMINISTIC_HASHING=1", "swift", "build", "--package-path", home.standIns,
            "--scratch-path", scratch.libraries, "--build-system", "native", "--disable-index-store",
            "--disable-build-manifest-caching", "--product", Self.name,
        ]
        _ = try Command.output(of: build)
        products = String(decoding: try Command.output(of: build + ["--show-bin-path"]), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        modules = try ModuleDirectories(home: home, scratch: scratch, products: products).make()
    }

    private static let name = "HaraldCompatibility"

    /// The library itself, among what has been built.
    static func file(in products: String) -> String { "\(products)/lib\(name).so" }

    /// What a wrapped `swift build` is told.
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
