// Nothing is declared in C: the submodule only makes `import os.log` a way to write `import os`.
