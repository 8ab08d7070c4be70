"""What is imported when the plugin is loaded."""

import subprocess
import sys


def test_loading_the_plugin_imports_no_compiler_and_no_learner():
    code = "import sys, bench_cstc.plugin; print({'numba', 'sklearn', 'lightgbm'} & sys.modules.keys())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
