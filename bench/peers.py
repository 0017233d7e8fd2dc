"""Where the programs come from: ours, built for release, and peers from the Go module proxy."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GHZ = 'github.com/bojand/ghz/cmd/ghz@v0.93.0'
GRPCURL = 'github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4'


def ours():
    """(the program, the lookup engine alone)"""
    build = Path(os.environ.get('BR2_BUILD', ROOT / 'build/bench'))
    if 'BR2_BUILD' not in os.environ:
        for command in (['--preset', 'bench'], ['--build', '--preset', 'bench']):
            subprocess.run(['cmake', *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return build / 'ingest/br2-ingest', build / 'tests/tools/lookup_probe'


def peer(module):
    """A Go program, built once."""
    folder = ROOT / 'build/peers'
    binary = folder / module.split('@')[0].rsplit('/', 1)[1]
    if not binary.exists():
        go = os.environ.get('BR2_GO') or subprocess.run([ROOT / 'scripts/setup', '--test', '--go'], check=True, text=True,
                                                    stdout=subprocess.PIPE).stdout.strip()
        subprocess.run([go, 'install', module], check=True,
                       env={**os.environ, 'GOBIN': str(folder), 'GOTOOLCHAIN': 'local'})
    return binary
