import Foundation
import TestBasics

/// The files that the kernel exposes.
extension TemporaryDirectory {
    static func kernelFiles() throws -> TemporaryDirectory {
        let files = try TemporaryDirectory()
        let adapters = files.file("class/bluetooth")
        try FileManager.default.createDirectory(atPath: adapters, withIntermediateDirectories: true)
        return files
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
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: destination)
    }
}
