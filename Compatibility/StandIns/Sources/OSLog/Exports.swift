// The reading of logs is not here.
@_exported import os
