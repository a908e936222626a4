// Apple's module map re-exports its imports.
@_exported import Dispatch
@_exported import Foundation
