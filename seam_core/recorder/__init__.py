"""What an agent imports to log its heals: standard library only, and this folder works wherever it is copied to.

recorder = Recorder("my_agent")
with recorder.heal("timeout:fetch_tool:checkout_flow", loop_id="loop_001", level=2) as heal:
    heal.visible_before, heal.visible_after = 0.70, 0.95
"""

from .heal import Change, Heal, hash_of
from .probe import Probe, probe
from .recorder import Recorder, Telemetry
from .verdicts import BudgetVerdict, GateVerdict
from .writing import Problem, Receipt

__all__ = ["BudgetVerdict", "Change", "GateVerdict", "Heal", "Probe", "Problem", "Receipt", "Recorder", "Telemetry", "hash_of", "probe"]
