"""What belongs to a project, and how is it copied, watched and trusted without ever being written to?"""
