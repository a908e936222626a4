import Foundation

extension NSError {
    /// An error of the API with a text for people, unless `userInfo` has one.
    ///
    /// Foundation prints the failure reason between quotes on Linux, `(null)` without one, and Apple's prints the text: so the
    /// text is the failure reason too.
    convenience init(_ domain: String, _ code: Int, _ text: String, _ userInfo: [String: Any]) {
        let text = userInfo[NSLocalizedDescriptionKey] as? String ?? text
        let texts: [String: Any] = [NSLocalizedDescriptionKey: text, NSLocalizedFailureReasonErrorKey: text]
        self.init(domain: domain, code: code, userInfo: texts.merging(userInfo) { $1 })
    }

    /// As Apple's systems print it, with what lies behind it where that is known:
    /// `Error Domain=CBErrorDomain Code=0 "Unknown error." UserInfo={NSLocalizedDescription=Unknown error.}`.
    var text: String {
        let shown = [NSLocalizedDescriptionKey, NSDebugDescriptionErrorKey]
        let info = shown.compactMap { key in userInfo[key].map { "\(key)=\($0)" } }.joined(separator: ", ")
        return "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\" UserInfo={\(info)}"
    }
}
