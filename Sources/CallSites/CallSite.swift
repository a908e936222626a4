/// A place in an app that calls `CoreBluetooth`, by its number in the process. The number is given when the place calls
/// for the first time; its name is looked up when it is needed.
public struct CallSite: Hashable, Sendable {
    /// The number of the place in its process, from 1 on.
    package let number: UInt32

    package init(number: UInt32) {
        self.number = number
    }
}

/// The file and line of a call in an app, or its function.
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

    package init(file: String? = nil, line: Int? = nil, function: String? = nil, offset: UInt64 = 0) {
        (self.file, self.line, self.function, self.offset) = (file, line, function, offset)
    }

    /// The name of the file with the line, for example `Heart.swift:42`; without them the function and the offset.
    public var description: String {
        let name = file.map { String($0[($0.lastIndex(of: "/").map($0.index(after:)) ?? $0.startIndex)...]) }
        let text =
            switch (name, line) {
            case (let name?, let line?): "\(name):\(line)"
            case (let name?, nil): name
            default: "\(function ?? "?") + \(offset)"
            }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.maximumLength)))
    }
}
