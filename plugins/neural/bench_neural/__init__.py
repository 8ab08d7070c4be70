"""Neural methods that acquire features one by one, and static orders answered by the same predictor."""
