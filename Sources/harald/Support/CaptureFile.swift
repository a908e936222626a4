import Foundation

/// A btsnoop or pcap file that grows with the packets. Each write is whole records, so a killed process leaves a readable file.
struct CaptureFile: Sendable {
    private let handle: FileHandle

    /// Makes the file, or empties the one that is there.
    init(path: String) throws(ToolError) {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else {
            throw .cannotWrite(path: path, reason: "the folder does not exist or may not be written to")
        }
        self.handle = handle
    }

    /// Appends octets. A disk that is full ends the capture, not the program.
    func write(_ bytes: [UInt8]) {
        try? handle.write(contentsOf: Data(bytes))
    }

    /// `heart.btsnoop` becomes `heart.sensor.btsnoop`.
    static func sibling(of path: String, named name: String) -> String {
        let url = URL(fileURLWithPath: path)
        let stem = url.deletingPathExtension().lastPathComponent
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        let folder = url.deletingLastPathComponent().path
        return (folder as NSString).appendingPathComponent("\(stem).\(name)\(suffix)")
    }
}
