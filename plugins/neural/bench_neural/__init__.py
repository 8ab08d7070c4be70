"""Neural methods that acquire features one by one, and static orders whose answers come from the same predictor."""
