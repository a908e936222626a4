@testable import BluetoothService

extension DatedRule {
    /// The first and the last version with the rule, and those before and after them.
    var neighbours: [SystemVersion] {
        let (first, last) = (row.versions.lowerBound, row.versions.upperBound)
        let before =
            first.minor == 0 ? SystemVersion.last(of: first.major - 1) : SystemVersion(first.major, first.minor - 1)
        let after = last.minor == .max ? SystemVersion(last.major + 1) : SystemVersion(last.major, last.minor + 1)
        return Set([before, first, last, after]).sorted().filter {
            $0 >= .oldest && $0.major <= SystemVersion.newest.major
        }
    }
}
