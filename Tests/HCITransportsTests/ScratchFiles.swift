import Foundation

/// A directory that is deleted with the test, for the files that the kernel exposes.
final class ScratchFiles: Sendable {
    let path = NSTemporaryDirectory() + "harald-kernel-\(UUID())"

    init() throws {
        try FileManager.default.createDirectory(atPath: path + "/class/bluetooth", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Lays out an adapter as the kernel does: the adapter below the interface, the interface below the device.
    func addUSBAdapter(_ name: String, port: String, product: String) throws {
        let device = "devices/pci0000:00/0000:00:14.0/usb1/\(port)"
        try write(product + "\n", to: "\(device)/product")
        try write("0\n", to: "\(device)/\(port):1.0/bluetooth/\(name)/rfkill3/soft")
        try write("0\n", to: "\(device)/\(port):1.0/bluetooth/\(name)/rfkill3/hard")
        try link("\(device)/\(port):1.0/bluetooth/\(name)/device", to: "../../../\(port):1.0")
        try link("class/bluetooth/\(name)", to: "../../\(device)/\(port):1.0/bluetooth/\(name)")
    }

    func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: destination)
    }
}
