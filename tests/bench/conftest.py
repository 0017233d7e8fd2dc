import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / 'bench'), str(ROOT / 'tests/e2e')]
