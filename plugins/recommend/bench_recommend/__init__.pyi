from .recommending import Recommendation as Recommendation
from .recommending import recommend as recommend

__all__: list[str]
