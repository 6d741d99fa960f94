"""What the user's variables hold while their program is captured."""
