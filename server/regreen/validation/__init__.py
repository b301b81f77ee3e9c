"""Is a candidate patch what it claims to be? Gate, ladder, minimising, and the proof that goes with an offer."""
