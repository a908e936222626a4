import Foundation
import HCI

extension CaptureFile {
    /// Creates the capture file named on the command line.
    static func named(_ path: String) throws(ToolError) -> CaptureFile {
        do throws(CaptureError) { return try CaptureFile(path: path) } catch { throw .capture(error) }
    }

    /// Inserts a name before the extension: `heart.btsnoop` becomes `heart.sensor.btsnoop`.
    static func sibling(of path: String, named name: String) -> String {
        let url = URL(fileURLWithPath: path)
        let stem = url.deletingPathExtension().lastPathComponent
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        let folder = url.deletingLastPathComponent().path
        return (folder as NSString).appendingPathComponent("\(stem).\(name)\(suffix)")
    }
}
