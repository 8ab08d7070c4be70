"""Cost-efficient gradient boosting (CEGB) by LightGBM; each row pays for the features on its own paths."""
