"""scripts/setup, where nothing can be installed: it says which packages are wanted, and ends."""
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / 'scripts/setup'


def wanted(empty, *options):
    """Its list on a machine without Debian's package manager."""
    result = subprocess.run([SETUP, *options], env={'PATH': str(empty)}, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (1, '')
    head, packages, *_ = result.stderr.splitlines()
    assert 'this is not Debian' in head
    return packages.removeprefix('setup:').split()


@pytest.mark.parametrize('option, some', [
    ('--test', {'python3', 'libcmocka-dev'}), ('--analyze', {'cppcheck'}), ('--go', {'python3', 'python3-venv'})])
def test_an_option_adds_its_packages(tmp_path, option, some):
    packages = set(wanted(tmp_path, option))
    assert packages > set(wanted(tmp_path)) and packages > some


def test_a_package_of_two_options_is_listed_once(tmp_path):
    packages = wanted(tmp_path, '--test', '--analyze', '--go')
    assert len(packages) == len(set(packages))
    assert set(packages) == {package for option in ('--test', '--analyze', '--go') for package in wanted(tmp_path, option)}
