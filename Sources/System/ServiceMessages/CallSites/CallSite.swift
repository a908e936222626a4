/// A place in an app that calls `CoreBluetooth`, by its number in the process. The number is given when the place calls
/// for the first time; its name is looked up when it is needed.
public struct CallSite: Hashable, Sendable {
    /// The number of the place in its process, from 1 on.
    package let number: UInt32
    /// The number that a service has given the process. 0 for this process.
    package let process: UInt32

    package init(number: UInt32, process: UInt32 = 0) {
        (self.number, self.process) = (number, process)
    }
}

/// The file and line of a call in an app, or its function, or else its addresses in the program.
public struct CallPlace: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a place as text, in Unicode scalars.
    package static let maximumLength = 160

    /// The path of the source file; nil if the program does not have it.
    public let file: String?
    /// The line in the file, from 1 on; nil if the program does not have it.
    public let line: Int?
    /// The function as written in Swift; nil if the program does not have its name.
    public let function: String?
    /// The distance of the call from the beginning of the function, in octets.
    public let offset: UInt64
    /// The path of the program or library of ``addresses``; nil if a name of the place is known.
    public let module: String?
    /// The addresses in ``module`` of the call and its callers, the innermost first, if no name of the place is known.
    /// The first ones belong to this package.
    public let addresses: [UInt64]

    package init(file: String? = nil, line: Int? = nil, function: String? = nil, offset: UInt64 = 0) {
        (self.file, self.line, self.function, self.offset) = (file, line, function, offset)
        (module, addresses) = (nil, [])
    }

    package init(module: String, addresses: [UInt64]) {
        (file, line, function, offset) = (nil, nil, nil, 0)
        (self.module, self.addresses) = (module, addresses)
    }

    /// The name of the file with the line, for example `Heart.swift:42`; without them the function and the offset;
    /// without any name the program and the addresses, which `llvm-symbolizer --obj=PROGRAM ADDRESS` may name.
    public var description: String {
        let text =
            switch (file.map(Self.name), line, module.map(Self.name)) {
            case (let name?, let line?, _): "\(name):\(line)"
            case (let name?, nil, _): name
            case (nil, _, let module?): "\(module) + \(addressText(after: module))"
            case (nil, _, nil): "\(function ?? "?") + \(offset)"
            }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maximumLength)))
    }

    /// The addresses that fit, all in whole digits.
    private func addressText(after module: String) -> String {
        var text = ""
        for address in addresses {
            let next = (text.isEmpty ? "" : ", ") + "0x" + String(address, radix: 16)
            guard module.unicodeScalars.count + 3 + text.count + next.count <= Self.maximumLength else { break }
            text += next
        }
        return text
    }

    private static func name(_ path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }
}
