"""What a plugin author meets: data sets, costs, methods, policies, decisions, metrics, parameters, errors."""
