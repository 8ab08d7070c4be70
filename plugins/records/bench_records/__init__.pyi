from .committed import Committed as Committed
from .committed import published as published
from .committed import records_of as records_of
from .completing import EMPTY as EMPTY
from .completing import complete as complete
from .exports import RECORDS as RECORDS
from .exports import read_export as read_export
from .exports import write_export as write_export
from .files import differing as differing
from .files import write_files as write_files
from .losses import find_losses as find_losses
from .losses import outdated as outdated
from .records import KEY as KEY
from .records import Labels as Labels
from .records import Records as Records
from .records import is_over_limit as is_over_limit
from .records import tabulate as tabulate
from .selection import Rules as Rules
from .selection import select as select
from .spreadsheet import csv_text as csv_text
from .verified import VERIFIED as VERIFIED
from .verified import read_verified as read_verified
from .verified import strict_records as strict_records

__all__: list[str]
