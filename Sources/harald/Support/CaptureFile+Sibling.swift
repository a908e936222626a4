import Foundation
import HCI

extension CaptureFile {
    /// Makes the file that the command line names.
    static func named(_ path: String) throws(ToolError) -> CaptureFile {
        do throws(CaptureError) { return try CaptureFile(path: path) } catch { throw .capture(error) }
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
