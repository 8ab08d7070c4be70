from .columns import BoostedTrees as BoostedTrees
from .columns import PlainColumns as PlainColumns
from .columns import boost as boost
from .columns import price_of_evaluation as price_of_evaluation
from .leaf import scale_of as scale_of
from .penalty import Penalty as Penalty
from .targets import Target as Target
from .targets import targets_of as targets_of
from .walker import weighted_sum as weighted_sum

__all__: list[str]
