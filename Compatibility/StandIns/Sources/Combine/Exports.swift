// OpenCombine is Combine under another name, but for what the other files of this folder add.
@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation
