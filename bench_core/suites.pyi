from .cli.options import ISOLATION as ISOLATION
from .cli.options import OUT as OUT
from .cli.options import cli_errors as cli_errors
from .cli.options import installed_plugins as installed_plugins
from .cli.options import listed_plugins as listed_plugins
from .cli.options import warn as warn
from .cli.options import with_session as with_session
from .cli.options import with_sessions as with_sessions
from .cli.output import print_table as print_table
from .plugins.described import described_registry as described_registry
from .plugins.hookspecs import RegisterSuiteSection as RegisterSuiteSection
from .plugins.hookspecs import SectionRules as SectionRules
from .plugins.hookspecs import SuiteSection as SuiteSection
from .plugins.manager import load_registry as load_registry
from .plugins.registry import Registry as Registry
from .run.plan import Plan as Plan
from .run.plan import Planned as Planned
from .run.runner import FinishedRun as FinishedRun
from .run.runner import Written as Written
from .run.runner import run_suite as run_suite
from .run.session import SuiteSession as SuiteSession
from .run.suite import Suite as Suite
from .run.suite import load_suite as load_suite
from .run.suite_schema import seed_list as seed_list
from .run.suite_schema import validated as validated
from .run.trial import Trial as Trial

__all__: list[str]
