/// An image by its name: what this package has of the class of UIKit that display items use.
///
/// The picker here shows the name of the image. Nothing is loaded, so every name makes an image.
open class UIImage: NSObject, @unchecked Sendable {
    // Safe: it has no mutable state.

    /// The name of the image; empty for an image without one.
    let name: String

    /// Creates an image without a name.
    public override init() { name = "" }

    /// Creates the image of the app with this name.
    ///
    /// - Parameter name: The name of an image in the app's resources.
    public init?(named name: String) { self.name = name }

    /// Creates the symbol of the system with this name.
    ///
    /// - Parameter name: The name of a symbol.
    public init?(systemName name: String) { self.name = name }
}
