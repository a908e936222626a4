import Foundation

/// The driver of libFuzzer, without its `main`.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ argc: UnsafeMutablePointer<CInt>,
    _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

// Safe: set once before libFuzzer runs, on the only thread.
nonisolated(unsafe) private var current: FuzzTarget?

@main
enum HaraldFuzzing {
    static let usage = """
        HaraldFuzzing list                  names of the targets
        HaraldFuzzing seeds FOLDER          writes the seeds of each target into a folder of its own
        HaraldFuzzing TARGET [OPTION...]    libFuzzer on a target, with libFuzzer's options
        """

    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case "list"?: for target in FuzzTarget.all { print(target.name) }
        case "seeds"? where CommandLine.arguments.count == 3: writeSeeds(to: CommandLine.arguments[2])
        case let name?:
            guard let target = FuzzTarget.all.first(where: { $0.name == name }) else { return fail(usage) }
            current = target
            drive(CommandLine.arguments.enumerated().filter { $0.offset != 1 }.map(\.element), target)
        case nil: fail(usage)
        }
    }

    private static func drive(_ arguments: [String], _ target: FuzzTarget) {
        let all = arguments + ["-max_len=\(target.maximumLength)"]
        var strings: [UnsafeMutablePointer<CChar>?] = all.map { strdup($0) } + [nil]
        var count = CInt(all.count)
        let status = strings.withUnsafeMutableBufferPointer { buffer in
            var pointer = buffer.baseAddress
            return runDriver(&count, &pointer) { bytes, length in
                current?.run(FuzzInput(Array(UnsafeBufferPointer(start: bytes, count: length))))
                return 0
            }
        }
        exit(status)
    }

    private static func writeSeeds(to folder: String) {
        for target in FuzzTarget.all {
            let path = "\(folder)/\(target.name)"
            do {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                for (index, seed) in target.seeds().enumerated() {
                    let name = "seed-" + String(repeating: "0", count: 4 - min(4, "\(index)".count)) + "\(index)"
                    try Data(seed.prefix(target.maximumLength)).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                }
            } catch {
                return fail("cannot write \(path): \(error)")
            }
        }
    }

    private static func fail(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(64)
    }
}
