// Apple's module map re-exports its imports.
@_exported import Foundation
