from .builtin.metrics import BUILT_IN as BUILT_IN
from .contract.errors import StoreError as StoreError
from .contract.metric import DEFAULT_METRICS as DEFAULT_METRICS
from .contract.metric import default_metric as default_metric
from .contract.metric import measure as measure
from .contract.metric import resolve_metric as resolve_metric
from .run.plan import definition_of as definition_of
from .run.record_file import seal as seal
from .run.record_file import unseal as unseal
from .run.runner import DamagedRecordsError as DamagedRecordsError
from .run.store import Store as Store
from .run.stored import stored_records as stored_records

__all__: list[str]
