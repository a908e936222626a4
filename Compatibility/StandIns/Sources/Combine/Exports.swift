// OpenCombine is Combine under another name, except for the additions in the other files of this directory.
@_exported import OpenCombine
@_exported import OpenCombineDispatch
@_exported import OpenCombineFoundation
