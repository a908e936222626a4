#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An adapter of this machine's kernel that has no hardware: `hci_vhci` of Linux. Whoever has its file open is its controller, and says
/// one packet with each write.
package enum VirtualAdapter {
    /// Why there is no such adapter, and what to do.
    package enum Failure: Error, Hashable, Sendable {
        /// This kernel has no virtual adapters.
        case noModule(path: String)
        /// This process may not.
        case noPermission(path: String)
        /// The kernel says something else.
        case failed(asked: String, code: Int32)
        /// What the file says is not of a virtual adapter.
        case unknownAnswer(path: String, octets: [UInt8])
    }

    /// An adapter that there is as long as its file is open.
    package struct Made: Hashable, Sendable {
        /// Its file.
        package var descriptor: Int32
        /// The number that the kernel has given it.
        package var number: UInt16
    }

    /// Where the kernel has virtual adapters made.
    package static let path = "/dev/vhci"
    /// `HCI_VENDOR_PKT` of `include/net/bluetooth/hci.h`, which stands before what is between this process and the kernel alone; and
    /// behind it 0 for an adapter like any other (`vhci_create_device` of `drivers/bluetooth/hci_vhci.c`).
    private static let creation: [UInt8] = [0xFF, 0]

    /// Has an adapter made.
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
            // The answer is there with the end of the call: again what was written, and the number.
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
    /// What happened, and what to do, for a person.
    package var description: String {
        switch self {
        case .noModule(let path):
            "there is no \(path): load the kernel's module for virtual adapters with modprobe hci_vhci"
        case .noPermission(let path): "\(path) may not be opened: making adapters is for root; run this by sudo"
        case .failed(let asked, let code):
            "the kernel makes no adapter: \(asked): \(String(cString: strerror(code))) (\(code)); its log may say more (dmesg)"
        case .unknownAnswer(let path, let octets):
            "\(path) is not the file of the module hci_vhci: it says \(octets)"
        }
    }
}
