from .classifier import BudgetedClassifier as BudgetedClassifier
from .error_costs import read_error_costs as read_error_costs
from .evaluating import evaluate as evaluate
from .explaining import Explanation as Explanation
from .explaining import explain as explain
from .fitted import FittedPolicy as FittedPolicy
from .fitting import fit_policy as fit_policy
from .folder import load_policy as load_policy
from .folder import save_policy as save_policy
from .goals import Goal as Goal
from .prices import read_prices as read_prices
from .sessions import Answer as Answer
from .sessions import Session as Session
from .substitution import AskedBySubstitution as AskedBySubstitution
from .tables import Columns as Columns
from .trials import Setup as Setup

__all__: list[str]
