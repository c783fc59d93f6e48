#!lua
-- Makes a change that was worked out elsewhere, if all that it was worked out from is still the same.
-- KEYS     every key that is looked at or written
-- ARGV     time, digest of what was shown, number of looks, the looks and then the writes as in _look.lua
-- Returns  nil once the writes are made; otherwise what the looks show now: {digest, time ms, answers}
--!include _clock
--!include _look
local shown, writes = look()
if shown[1] ~= ARGV[2] then return shown end
run_commands(writes, #ARGV)
return false
