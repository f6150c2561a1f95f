"""`profile recalibrate` tells whether a stored profile is still right.

Every profile keeps a fingerprint of code, platform and data; `decision` tells what differs and which steps that asks
for: a platform that was resized for steps 2 and 3, new data for step 1 and what follows, new code for all. Where
nothing changed the stored answer is measured again (`stored_answer`): noise that would hide a large change confirms
nothing. `watch` follows a running job and recommends with hysteresis.
"""
