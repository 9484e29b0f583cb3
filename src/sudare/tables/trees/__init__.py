"""How tree mechanisms go through their levels: lazily where somebody is left, or densely with every node measured."""
