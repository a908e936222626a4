import BluetoothTypes
import Foundation
import HCI

extension CaptureFile {
    /// Creates the capture file named on the command line.
    ///
    /// - Parameter inputs: The files that the command reads.
    static func named(_ path: String, reading inputs: [String] = []) throws(ToolError) -> CaptureFile {
        do throws(OutputFile.Failure) {
            return try CaptureFile(path: path, reading: inputs)
        } catch {
            throw .capture(error)
        }
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
