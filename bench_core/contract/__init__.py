"""The types that plugin authors use: data sets, costs, methods, policies, decisions, metrics, parameters, errors."""
