from .check_plugin import check_plugin as check_plugin
from .checks import CHECKS as CHECKS
from .checks import Check as Check
from .checks_metrics import make_outcome as make_outcome
from .contracts import check_cost_scheme as check_cost_scheme
from .contracts import check_dataset as check_dataset
from .contracts import check_method as check_method
from .contracts import check_metric as check_metric
from .contracts import cost_scheme_contract as cost_scheme_contract
from .contracts import dataset_contract as dataset_contract
from .contracts import method_contract as method_contract
from .contracts import metric_contract as metric_contract
from .fitting import changed_rows as changed_rows
from .fitting import policy_audit as policy_audit
from .plain_toml import toml_text as toml_text
from .planned import CheckResult as CheckResult
from .problems import VARIANTS as VARIANTS
from .problems import Case as Case
from .problems import make_case as make_case
from .problems import make_dataset as make_dataset
from .problems import make_problem as make_problem

__all__: list[str]
