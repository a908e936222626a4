/// Shortens the values in a story, so that its lines can be read.
enum ShortValues {
    /// The number of octets of a value that remain.
    static let maximumOctets = 32

    /// Returns a line in which each value with more octets is cut. The text that repeats such a value goes, too.
    static func shortened(_ line: String) -> String {
        guard line.utf8.count > 2 * maximumOctets else { return line }
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.contains(where: isLong) else { return line }
        return line.replacing(/\b([0-9a-f]{66,})(?: "(?:[^"\\]|\\.)*")?/) { match in
            let digits = match.output.1
            return "\(digits.prefix(2 * maximumOctets))… (\(digits.utf8.count / 2) octets)"
        }
    }

    private static func isLong(_ word: Substring) -> Bool {
        word.utf8.count > 2 * maximumOctets && word.utf8.first.map { isDigit($0) } == true
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(octet)
    }
}
