"""The list that the model sees each turn: inside the budget, valid, stable from turn to turn."""
