"""Cost-effective gradient boosting as LightGBM does it, with the bill of what each row really reads."""
