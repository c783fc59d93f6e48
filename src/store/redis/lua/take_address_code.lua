#!lua
-- Takes the code that confirms an address. Wrong ones change nothing.
-- KEYS[1]  the address that the user has yet to confirm
-- ARGV     hash of the code that was given, time
-- Returns  the address, or nil when the code is wrong or has expired
--!include _clock
local now = clock(ARGV[2])
local code = redis.call('HMGET', KEYS[1], 'hash', 'expires', 'email')
if not code[1] or code[1] ~= ARGV[1] then return false end
redis.call('DEL', KEYS[1])
if tonumber(code[2]) <= now then return false end
return code[3]
