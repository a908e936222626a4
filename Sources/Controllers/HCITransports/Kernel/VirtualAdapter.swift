import Foundation

/// A virtual adapter of this machine's kernel (`hci_vhci` of Linux). The process that has its file open is the
/// controller. Each write is one packet.
package enum VirtualAdapter {
    /// The reason why no adapter could be created. Its description says what to do.
    package enum Failure: Error, Hashable, Sendable {
        /// The kernel has no virtual adapters.
        case noModule(path: String)
        /// This process lacks the permission.
        case noPermission(path: String)
        /// The kernel reports another error.
        case failed(asked: String, code: Int32)
        /// The file does not respond like `hci_vhci`.
        case unknownAnswer(path: String, octets: [UInt8])
    }

    /// A virtual adapter, which exists as long as its file is open.
    package struct Made: Hashable, Sendable {
        /// The descriptor of the open file.
        package var descriptor: Int32
        /// The adapter's number, assigned by the kernel.
        package var number: UInt16
    }

    /// The device file that creates virtual adapters.
    package static let path = "/dev/vhci"
    /// `HCI_VENDOR_PKT` of `include/net/bluetooth/hci.h`, which marks a message between this process and the kernel,
    /// followed by 0 for a plain adapter (`vhci_create_device` of `drivers/bluetooth/hci_vhci.c`).
    private static let creation: [UInt8] = [0xFF, 0]

    /// Creates an adapter, which exists until its file is closed.
    package static func make(at path: String = path) throws(Failure) -> Made {
        let file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            switch errno {
            case ENOENT, ENODEV, ENXIO: throw .noModule(path: path)
            case EACCES, EPERM: throw .noPermission(path: path)
            case let code: throw .failed(asked: path, code: code)
            }
        }
        do throws(Failure) {
            return Made(descriptor: file, number: try create(file, path))
        } catch {
            close(file)
            throw error
        }
    }

    private static func create(_ file: Int32, _ path: String) throws(Failure) -> UInt16 {
        let calls = LinuxCalls(ofDevice: true)
        let answer: [UInt8]
        do throws(ErrorNumber) {
            try calls.write(creation, to: file)
            // The answer is available as soon as the write returns: the request again, then the adapter's number.
            answer = try calls.read(file, atMost: 64)
        } catch {
            throw .failed(asked: path, code: error.code)
        }
        guard answer.count == 4, Array(answer[..<2]) == creation else {
            throw .unknownAnswer(path: path, octets: answer)
        }
        return UInt16(answer[2]) | UInt16(answer[3]) << 8
    }
}

extension VirtualAdapter.Failure: CustomStringConvertible {
    /// The failure and its remedy, in words for the user.
    package var description: String {
        switch self {
        case .noModule(let path):
            "\(path) does not exist: load the kernel module for virtual adapters with modprobe hci_vhci"
        case .noPermission(let path): "opening \(path) to create an adapter requires root: run this with sudo"
        case .failed(let asked, let code):
            "the kernel did not create an adapter: \(asked): \(String(cString: strerror(code))) (\(code)); see the kernel log (dmesg)"
        case .unknownAnswer(let path, let octets):
            "\(path) is not the device of the module hci_vhci: it answered \(octets)"
        }
    }
}
