import Foundation

extension NSError {
    /// Creates an error of the API with a description, unless `userInfo` has one.
    ///
    /// On Linux, Foundation prints the failure reason between quotes, and `(null)` without one. Apple's systems print
    /// the description. Therefore the description becomes the failure reason too.
    convenience init(_ domain: String, _ code: Int, _ text: String, _ userInfo: [String: Any]) {
        let text = userInfo[NSLocalizedDescriptionKey] as? String ?? text
        let texts: [String: Any] = [NSLocalizedDescriptionKey: text, NSLocalizedFailureReasonErrorKey: text]
        self.init(domain: domain, code: code, userInfo: texts.merging(userInfo) { $1 })
    }

    /// The error in the format that Apple's systems print, with the debug description if there is one:
    /// `Error Domain=CBErrorDomain Code=0 "Unknown error." UserInfo={NSLocalizedDescription=Unknown error.}`.
    var text: String {
        let shown = [NSLocalizedDescriptionKey, NSDebugDescriptionErrorKey]
        let info = shown.compactMap { key in userInfo[key].map { "\(key)=\($0)" } }.joined(separator: ", ")
        return "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\" UserInfo={\(info)}"
    }
}
