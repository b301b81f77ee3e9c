"""A small shop: a catalogue, a cart, discounts and receipts. Prices are whole cents."""
